/**
 * Counts the times that entities ceased to exist. Who remembers that an entity exists asks, under the lock of writers, whether the
 * number is still the same: whatever takes existence away holds that lock alone until it is committed. A sequence, because its
 * number is never taken back with a transaction, and because nobody waits for it.
 */
export const up = `
create sequence absence_seq;
`

export const down = `
drop sequence absence_seq;
`

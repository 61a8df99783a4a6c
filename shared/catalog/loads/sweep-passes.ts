/**
 * The passes of a snapshot after all others: one chunk that compares, then the chunks that remove. Stored in
 * Postgres.
 */

export const comparePass = 1_001
export const removalPass = 1_002

/** A chunk of these passes has no records: it cannot be split, and nothing in it can be rejected. */
export const isSweep = (pass: number): boolean => pass >= comparePass

/** Opens several things that belong together, so that none stays open if another cannot be opened. */
type Close = () => Promise<unknown> | void

export type Opened<Parts> = {
  parts: Parts
  /** Closes everything, last first. If one thing fails to close, the others are closed nevertheless. */
  close: () => Promise<void>
}

/**
 * `open` passes the function that closes a thing to `opened` as soon as the thing is open. If `open` throws,
 * everything that was opened before is closed, last first, and its error is thrown.
 */
export async function openTogether<Parts>(
  open: (opened: (close: Close) => void) => Promise<Parts>
): Promise<Opened<Parts>> {
  const closes: Close[] = []
  async function close(): Promise<void> {
    const failures: unknown[] = []
    while (closes.length > 0) {
      try {
        await closes.pop()?.()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  try {
    return { parts: await open((each) => closes.push(each)), close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

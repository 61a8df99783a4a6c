/** Whole numbers of 32 bits as bytes and back, little-endian as every platform is that Tributary runs on. */

/** The memory of the numbers themselves. */
export const bytesOfInts = (numbers: Int32Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

/** A copy, since bytes may begin anywhere and numbers may not. */
export const intsOfBytes = (bytes: Uint8Array): Int32Array => new Int32Array(new Uint8Array(bytes).buffer)

/** A promise and what resolves it: Promise.withResolvers, which Node.js 20 does not have. */
export function withResolver<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve = (_value: Value): void => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

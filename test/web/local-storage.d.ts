/** What the modules of the web UI, which are compiled for the tests in this folder, use of a browser. */
declare const localStorage: {
  getItem: (key: string) => string | null
  setItem: (key: string, value: string) => void
  removeItem: (key: string) => void
}

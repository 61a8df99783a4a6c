/** The link that signs a browser in to the web UI. */
import { urlOn, type Server } from './server.ts'

/** The code is after the #, which browsers do not send, so it is in no access log. */
export const signInLink = (server: Pick<Server, 'url'>, code: string): string =>
  `${urlOn(server, 'ui/sign-in').href}#code=${code}`

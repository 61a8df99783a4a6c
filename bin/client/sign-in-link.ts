/** The link that signs a browser in to the web UI. */
import { urlOn, type Server } from './server.ts'

/** The code is behind the #, which browsers send to no server: it gets into no access log. */
export const signInLink = (server: Pick<Server, 'url'>, code: string): string =>
  `${urlOn(server, 'ui/sign-in').href}#code=${code}`

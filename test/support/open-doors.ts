/** The requests that pages may make: what every client may, pages and files, and what signs a browser in. */
import { descriptions, undescribed } from '../../api/reference/routes.ts'

const doors = [...descriptions.keys(), ...undescribed.keys()].map((route) => {
  const [method = '', path = ''] = route.split(' ')
  const pattern = path
    .replaceAll(/[.]/g, '\\.')
    .replaceAll('*', '.*')
    .replaceAll(/:\w+|\{\w+\}/g, '[^/]+')
  return { method, pattern: new RegExp(`^${pattern}$`) }
})

/** `path` is below the address of the server, without its query. */
export const isOpenDoor = (method: string, path: string): boolean =>
  doors.some((door) => door.method === method && door.pattern.test(path))

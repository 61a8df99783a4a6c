/** What `npm start` says to someone who has just met the catalog. */

type Greeting = { url: string, tokenFile: string, isUsualPort: boolean }

/** Lines that can be pasted into a shell. */
export function whatToTry({ url, tokenFile, isUsualPort }: Greeting): string[] {
  const server = isUsualPort ? '' : `TRIBUTARY_URL=${url} `
  return [
    '',
    'Try next:',
    `  curl -s ${url}/api/graphql -H "Authorization: Bearer $(cat ${tokenFile})" -H 'Content-Type: application/json' \\`,
    `    -d '{"query":"{ listDomains(input: {}) { domains { urn properties { name } } } }"}'`,
    `  echo '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,my.table,PROD)"}' | ${server}npx tributary load -`,
    `  curl -s ${url}/health/ready`,
    'Ctrl-C stops everything; the data stays.'
  ]
}

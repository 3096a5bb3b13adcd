/** The library's messages are about code; a client of the API writes JSON. */

/** `Write tz: 'Europe/Paris'.` becomes `Write "tz": "Europe/Paris".` */
export function jsonHint(hint: string): string {
  return hint
    .replaceAll(/(?:await )?app\.schedules\.(pause|resume|trigger)\(name\)/g, 'POST /api/v1/schedules/NAME/$1')
    .replaceAll(' and resume(name)', ' and /resume')
    .replaceAll(/(?:await )?app\.schedules\.create\('(\w+)', (\{.*?\})\)/g, 'PUT /api/v1/schedules/$1 with $2')
    .replaceAll(/(?<![\w"])([a-zA-Z]+): (?=['{[\d…"]|true\b|false\b)/g, '"$1": ')
    .replaceAll(/(?<!\w)'([^']*)'(?!\w)/g, '"$1"')
}

/** JSON has no Date. */
export function jsonMessage(message: string): string {
  return message.replace('a Date, epoch milliseconds', 'epoch milliseconds')
}

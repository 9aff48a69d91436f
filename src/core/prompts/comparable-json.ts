/** JSON of values as it is compared: equal texts say the same. `digestRows` does it in Postgres. */

/** Without differences of white space and of Unicode form. */
export function comparableJson(json: string): string {
  return json
    .normalize('NFC')
    .replaceAll(/(?:\\[nrt]|\s)+/gu, ' ')
    .replaceAll(/ ?" ?/g, '"');
}

/** Its words: also without differences of case, compatible characters and marks of sentences. */
export function wordsOfJson(json: string): string {
  return json
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/(?:\\[nrt"]|[\s.,;:!?'"()[\]{}`])+/gu, ' ')
    .trim();
}

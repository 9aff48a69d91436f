/** Codes that are counted and shown in headers; a provider may send any text. */
const codePattern = /^[A-Za-z0-9][\w.:-]{0,63}$/;

export function countedCode(code: unknown, status: number): string {
  return typeof code === 'string' && codePattern.test(code) ? code : `http_${status}`;
}

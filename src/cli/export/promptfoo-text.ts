/** Texts that Nunjucks renders to what they were. */

/** Opening and closing signs of tags become quoted braces. */
export function literal(text: string): string {
  return text.replace(/\{(?=[{%#]|$)|#(?=\})/g, (sign) => `{{ '${sign}' }}`);
}

const reserved = new Set([
  'true',
  'false',
  'none',
  'null',
  'and',
  'or',
  'not',
  'in',
  'is',
  'if',
  'else',
  'loop',
  'super',
  'caller',
  'range',
  'cycler',
  'joiner',
  'env',
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** The variable of a column: letters, digits and `_`, as Nunjucks reads names. */
export function variableName(column: string): string {
  const name = column
    .trim()
    .normalize()
    .replace(/[^\p{L}\p{M}\p{N}_]/gu, '_');
  return /^\p{N}/u.test(name) || reserved.has(name) ? `_${name}` : name;
}

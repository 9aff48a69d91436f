/** Code of promptfoo's javascript assertions as functions of a scorer. */
import { Script } from 'node:vm';

/** A function of a scorer with promptfoo's expression, or its body of several lines. */
export function functionOf(code: string): string {
  const body = code.trimEnd().includes('\n') ? code : bodyOf(code.trim().replace(/;+\s*$/, ''));
  return `(output, row) => {
  const context = { vars: row };
  const given = ((output, context) => {
${body}
  })(output, context);
  if (typeof given !== 'object' || given === null) return Number(given);
  return { reward: given.score ?? Number(given.pass), feedback: given.reason ?? '' };
}`;
}

/** The body of one line: an expression, or declarations with an expression at the end. */
function bodyOf(line: string): string {
  if (!/^(?:const|let|var)\s/.test(line)) return `return ${line}`;
  // A semicolon within a text leaves parts that do not compile.
  const semicolons = [...line.matchAll(/;/g)].map(({ index }) => index).reverse();
  const at = semicolons.find((index) => compiles(line.slice(0, index)) && compiles(`return ${line.slice(index + 1)}`));
  return at === undefined ? line : `${line.slice(0, at)}; return ${line.slice(at + 1)}`;
}

function compiles(body: string): boolean {
  try {
    return Boolean(new Script(`() => {${body}\n}`));
  } catch {
    return false;
  }
}

/** A function of a scorer with an export of a file of promptfoo; null: it cannot run alone. */
export function functionOfFile(code: string, name: string | null): string | null {
  if (/\brequire\s*\(|^\s*import\b|\bimport\s*\(|\basync\b|\bawait\b/m.test(code)) return null;
  const plain = code
    .replaceAll(/^export\s+default\s+/gm, 'module.exports = ')
    .replaceAll(/^export\s+(?:const|function)\s+(\w+)/gm, (found, own: string) =>
      found.includes('function')
        ? `module.exports.${own} = ${own}; function ${own}`
        : `const ${own} = module.exports.${own}`,
    );
  const picked = name === null ? 'module.exports' : `module.exports[${JSON.stringify(name)}]`;
  const body = `const module = { exports: {} };\nconst exports = module.exports;\n${plain}\nreturn ${picked}(output, context);`;
  return compiles(body) ? functionOf(`${body}\n`) : null;
}

/** A function that takes the one of `codes` that the expected value counts. */
export function dispatchOf(codes: readonly string[]): string {
  return `(output, row, expected) => [\n${codes.join(',\n')}\n][expected](output, row)`;
}

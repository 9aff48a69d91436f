/** Code of promptfoo's javascript assertions as functions of a scorer. */
import { trimEndOf } from '../../../util/text.js';
import { Script } from 'node:vm';

/** What promptfoo's code sees beside the output. */
export interface CodeContext {
  /** Of the assertion. */
  config?: unknown;
  /** Whether the provider gives promptfoo the value of an answer that is JSON. */
  readsJson?: boolean;
}

/**
 * A function of a scorer with promptfoo's expression, or its body of several lines. Code that
 * throws, or returns no boolean, number or object, scores 0, as in promptfoo.
 */
export function functionOf(code: string, { config, readsJson = false }: CodeContext = {}): string {
  const body = code.trimEnd().includes('\n') ? code : bodyOf(trimEndOf(code.trim(), ';'));
  const more = config === undefined ? '' : `, config: ${JSON.stringify(config)}`;
  const value = readsJson ? '(() => { try { return JSON.parse(text); } catch { return text; } })()' : 'text';
  return `(text, row) => {
  const value = ${value};
  const context = { vars: row, test: { vars: row }, providerResponse: { output: value }${more} };
  try {
    const given = ((output, context, process) => {
${body}
    })(value, context, { env: {} });
    if (typeof given === 'boolean' || typeof given === 'number') return Number(given);
    if (given && typeof given.then === 'function') return given;
    if (typeof given !== 'object' || given === null) throw new TypeError('it returned no boolean, number or object');
    return { reward: given.score ?? Number(given.pass), feedback: given.reason ?? '' };
  } catch (error) {
    return { reward: 0, feedback: 'The code of the assertion failed: ' + (error && error.message) };
  }
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
export function functionOfFile(code: string, name: string | null, context: CodeContext = {}): string | null {
  if (/\brequire\s*\(|^[ \t]*import\b|\bimport\s*\(|\basync\b|\bawait\b/m.test(code)) return null;
  const plain = code
    .replaceAll(/^export\s+default\s+/gm, 'module.exports = ')
    .replaceAll(/^export\s+(?:const|function)\s+(\w+)/gm, (found, own: string) =>
      found.includes('function')
        ? `module.exports.${own} = ${own}; function ${own}`
        : `const ${own} = module.exports.${own}`,
    );
  const picked = name === null ? 'module.exports' : `module.exports[${JSON.stringify(name)}]`;
  const body = `const module = { exports: {} };\nconst exports = module.exports;\n${plain}\nreturn ${picked}(output, context);`;
  return compiles(body) ? functionOf(`${body}\n`, context) : null;
}

/** A function that takes the one of `codes` that the expected value counts. */
export function dispatchOf(codes: readonly string[]): string {
  return `(output, row, expected) => [\n${codes.join(',\n')}\n][expected](output, row)`;
}

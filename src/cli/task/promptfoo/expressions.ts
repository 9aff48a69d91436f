/**
 * Expressions of Nunjucks that have a value without running code: a literal, a var or a path in it,
 * and filters of a list.
 */
import { isObject } from '../../../util/json.js';

export type Vars = Readonly<Record<string, unknown>>;

export interface Expression {
  /** The first of them is a var; null: a literal. */
  keys: readonly string[] | null;
  literal: unknown;
  filters: readonly { name: string; args: readonly unknown[] }[];
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [...textOf(value)]);

/** As Nunjucks prints a value, but objects as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const filters: Readonly<Record<string, (value: unknown, ...args: readonly unknown[]) => unknown>> = {
  upper: (value) => textOf(value).toUpperCase(),
  lower: (value) => textOf(value).toLowerCase(),
  trim: (value) => textOf(value).trim(),
  capitalize: (value) =>
    textOf(value)
      .toLowerCase()
      .replace(/^./u, (first) => first.toUpperCase()),
  length: (value) => (isObject(value) ? Object.keys(value).length : value == null ? 0 : listOf(value).length),
  join: (value, separator = '') => listOf(value).map(textOf).join(textOf(separator)),
  first: (value) => listOf(value)[0],
  last: (value) => listOf(value).at(-1),
  replace: (value, from, to) => textOf(value).replaceAll(textOf(from), () => textOf(to)),
  default: (value, other, isBoolean) => (value === undefined || (isBoolean && !value) ? other : value),
  dump: (value, indent) => JSON.stringify(value, null, Number(indent ?? 0)),
  safe: (value) => value,
  string: textOf,
};

const part = String.raw`[\p{L}_$][\p{L}\p{N}_$-]*`;
const text = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const path = new RegExp(String.raw`^${part}(?:\.[\p{L}\p{N}_$-]+|\[\s*(?:\d+|${text})\s*\])*`, 'u');
const literal = new RegExp(String.raw`^(?:${text}|-?\d+(?:\.\d+)?|(?:true|false|none|null)\b)`, 'u');
const filter = new RegExp(String.raw`^\s*\|\s*(\w+)\s*(\(((?:${text}|[^()"'])*)\))?\s*`, 'u');

/** Null: an expression that only Nunjucks evaluates. */
export function parseExpression(source: string): Expression | null {
  const trimmed = source.trim();
  const [constant] = literal.exec(trimmed) ?? [];
  const [name = ''] = constant === undefined ? (path.exec(trimmed) ?? []) : [];
  const found: Expression['filters'][number][] = [];
  let rest = trimmed.slice((constant ?? name).length);
  for (let next = filter.exec(rest); next; next = filter.exec(rest)) {
    const [whole, called = '', , given = ''] = next;
    const args = given.trim() === '' ? [] : splitArgs(given);
    if (!Object.hasOwn(filters, called) || args === null) return null;
    found.push({ name: called, args });
    rest = rest.slice(whole.length);
  }
  if (rest.trim() !== '' || (constant === undefined && name === '')) return null;
  return constant === undefined
    ? { keys: keysOf(name), literal: undefined, filters: found }
    : { keys: null, literal: valueOfLiteral(constant), filters: found };
}

function splitArgs(given: string): unknown[] | null {
  const args: unknown[] = [];
  let rest = given.trim();
  while (rest !== '') {
    const [one] = literal.exec(rest) ?? [];
    if (one === undefined) return null;
    args.push(valueOfLiteral(one));
    const after = rest.slice(one.length).trim();
    if (after !== '' && !after.startsWith(',')) return null;
    rest = after.slice(1).trim();
  }
  return args;
}

function valueOfLiteral(source: string): unknown {
  if (/^["']/.test(source))
    return source.slice(1, -1).replaceAll(/\\(.)/g, (_, sign: string) => ({ n: '\n', t: '\t', r: '\r' })[sign] ?? sign);
  if (source === 'none' || source === 'null') return null;
  return JSON.parse(source) as unknown;
}

function keysOf(name: string): string[] {
  return [...name.matchAll(new RegExp(String.raw`\[\s*(\d+|${text})\s*\]|([\p{L}\p{N}_$-]+)`, 'gu'))].map(
    ([, inside, plain]) => plain ?? (/^["']/.test(inside!) ? String(valueOfLiteral(inside!)) : inside!),
  );
}

/** The value; undefined: the var, or the place in it, is not there. */
export function evaluate({ keys, literal: constant, filters: called }: Expression, vars: Vars): unknown {
  const start = keys === null ? constant : valueAt(vars, keys);
  return called.reduce<unknown>((value, { name, args }) => {
    if (value === undefined && name !== 'default') return undefined;
    return filters[name]!(value, ...args);
  }, start);
}

function valueAt(vars: Vars, keys: readonly string[]): unknown {
  const whole = keys.join('.');
  if (Object.hasOwn(vars, whole)) return vars[whole];
  return keys.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)] as unknown;
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, vars);
}

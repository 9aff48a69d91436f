/**
 * The part of JSON Schema by which a model's answer is checked: `type`, `properties`, `required`, `items`, `enum`,
 * `additionalProperties` and `description`. A graph with any other keyword is refused, so that whoever runs it checks the same.
 */
import { canonical, described, hasNul, isList, isObject, maxValueSize, sizeProblem, type Json } from './values.js';

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type JsonType = (typeof types)[number];

export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly Json[];
  /** Whether an object may have others than `properties`; true where absent. */
  readonly additionalProperties?: boolean;
  readonly description?: string;
}

/** Of one schema: how deep, and how large as JSON. */
const maxSchemaDepth = 10;
const maxSchemaSize = 20_000;

export interface Problem {
  path: string;
  message: string;
}

/** Everything that is wrong with a schema; it may be any JSON. Paths begin with `path`. */
export function schemaProblems(schema: unknown, path: string): Problem[] {
  const tooLarge = sizeProblem(schema as Json, maxSchemaSize);
  if (tooLarge !== null) return [{ path, message: tooLarge }];
  if (hasNul(schema as Json)) return [{ path, message: 'has a NUL character' }];
  return problemsAt(schema as Json, path, 0);
}

function problemsAt(schema: Json, path: string, depth: number): Problem[] {
  if (!isObject(schema)) return [{ path, message: `must be a JSON Schema (an object), not ${described(schema)}` }];
  if (depth > maxSchemaDepth) return [{ path, message: `is nested deeper than ${maxSchemaDepth} levels` }];
  return Object.entries(schema).flatMap(([keyword, value]) =>
    keywordProblems(keyword, value, `${path}.${keyword}`, depth),
  );
}

function keywordProblems(keyword: string, value: Json, path: string, depth: number): Problem[] {
  const must = (isRight: boolean, what: string) => (isRight ? [] : [{ path, message: `must be ${what}` }]);
  switch (keyword) {
    case 'type': {
      const named: readonly Json[] = isList(value) ? value : [value];
      const isRight = named.length > 0 && named.every((name) => (types as readonly Json[]).includes(name));
      return must(isRight, `one of ${types.join(', ')}, or a list of these`);
    }
    case 'properties':
      return isObject(value)
        ? Object.entries(value).flatMap(([name, inner]) => problemsAt(inner, `${path}.${name}`, depth + 1))
        : must(false, 'an object of schemas');
    case 'items':
      return problemsAt(value, path, depth + 1);
    case 'required':
      return must(isList(value) && value.every((name) => typeof name === 'string'), 'a list of names');
    case 'enum':
      return must(isList(value) && value.length > 0, 'a list of at least one value');
    case 'additionalProperties':
      return must(typeof value === 'boolean', 'true or false');
    case 'description':
      return must(typeof value === 'string', 'a text');
    default:
      return [
        {
          path,
          message: 'is not supported; use type, properties, required, items, enum, additionalProperties, description',
        },
      ];
  }
}

/** What of a schema is looked up for each value that it is asked of: made once, each word in it once. */
interface Words {
  types: ReadonlySet<JsonType> | null;
  /** Canonical. */
  choices: ReadonlySet<string> | null;
  required: ReadonlySet<string>;
}

const wordsKnown = new WeakMap<JsonSchema, Words>();

function wordsOf(schema: JsonSchema): Words {
  const words = wordsKnown.get(schema) ?? {
    types: schema.type === undefined ? null : new Set(typeof schema.type === 'string' ? [schema.type] : schema.type),
    choices: schema.enum === undefined ? null : new Set(schema.enum.map((one) => canonical(one))),
    required: new Set(schema.required),
  };
  wordsKnown.set(schema, words);
  return words;
}

/**
 * The first thing in which a value is not of the schema's form, naming the place; null where it is. The schema has no problems, and must
 * not be changed afterwards.
 */
export function valueProblem(schema: JsonSchema, value: Json, path = ''): string | null {
  const at = path === '' ? 'the answer' : path;
  const { properties = {}, items, additionalProperties = true } = schema;
  const { types: allowed, choices, required } = wordsOf(schema);
  if (allowed !== null && ![...allowed].some((one) => isOfType(value, one)))
    return `${at} must be of type ${[schema.type].flat().join(' or ')}, and is ${described(value)}`;
  if (choices !== null && !choices.has(canonical(value)))
    return `${at} must be one of ${schema.enum!.map((one) => JSON.stringify(one)).join(', ')}, and is ${described(value)}`;
  if (isList(value))
    return items === undefined
      ? null
      : firstProblem(value, (item, index) => valueProblem(items, item, `${path}[${index}]`));
  if (!isObject(value)) return null;
  const missing = [...required].find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${at} lacks "${missing}"`;
  return firstProblem(Object.keys(value), (name) => {
    if (Object.hasOwn(properties, name))
      return valueProblem(properties[name]!, value[name]!, path === '' ? name : `${path}.${name}`);
    return additionalProperties ? null : `${at} must not have "${name}"`;
  });
}

function firstProblem<Item>(
  items: readonly Item[],
  problemOf: (item: Item, index: number) => string | null,
): string | null {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== null) return problem;
  }
  return null;
}

function isOfType(value: Json, type: JsonType): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return isList(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
}

export type ReadJson = { ok: true; value: Json } | { ok: false; problem: string };

/** The JSON that a text is, with at most one ``` fence around it. */
export function readJson(text: string): ReadJson {
  let value: Json;
  try {
    value = JSON.parse(withoutFence(text)) as Json;
  } catch {
    return { ok: false, problem: `is not JSON: ${described(text)}` };
  }
  const tooLarge = sizeProblem(value, maxValueSize);
  return tooLarge === null ? { ok: true, value } : { ok: false, problem: tooLarge };
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const opening = /^```[\w-]*[ \t]*\r?\n/.exec(trimmed);
  const closing = /\n[ \t]*```$/.exec(trimmed);
  if (opening === null || closing === null || closing.index < opening[0].length - 1) return trimmed;
  return trimmed.slice(opening[0].length, closing.index + 1);
}

/** The names that an object of this schema may have, where it says that it has no others; null where it may have any. */
export function closedNames({ properties = {}, additionalProperties = true }: JsonSchema): string[] | null {
  // The schema may be one that is refused.
  return additionalProperties === false ? Object.keys(properties ?? {}) : null;
}

/**
 * The supported subset of JSON Schema: `type`, `properties`, `required`, `items`, `enum`,
 * `additionalProperties` and `description`, so that every interpreter checks the same.
 */
import { canonicalJson, isObject } from '../../util/json.js';
import { readJson } from '../answers/json.js';
import { describeValue, hasNul, isList, maxValueSize, sizeProblem, type Json } from './values.js';

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type JsonType = (typeof types)[number];

export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly Json[];
  /** Whether an object may have properties that are not in `properties`; default true. */
  readonly additionalProperties?: boolean;
  readonly description?: string;
}

/** Maximum nesting depth and size (as JSON) of a schema. */
const maxSchemaDepth = 10;
const maxSchemaSize = 20_000;

export interface Problem {
  path: string;
  message: string;
}

/** All problems of a schema, which may be any JSON. Paths begin with `path`. */
export function schemaProblems(schema: unknown, path: string): Problem[] {
  const sizeError = sizeProblem(schema as Json, maxSchemaSize);
  if (sizeError !== null) return [{ path, message: sizeError }];
  if (hasNul(schema as Json)) return [{ path, message: 'contains a NUL character' }];
  return problemsAt(schema as Json, path, 0);
}

function problemsAt(schema: Json, path: string, depth: number): Problem[] {
  if (!isObject(schema)) return [{ path, message: `must be a JSON Schema (an object), not ${describeValue(schema)}` }];
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

/** A schema with lookup sets for the checks of each value, built once. */
interface CompiledSchema {
  types: ReadonlySet<JsonType> | null;
  /** Canonical JSON of each value. */
  choices: ReadonlySet<string> | null;
  required: ReadonlySet<string>;
}

const compiledSchemas = new WeakMap<JsonSchema, CompiledSchema>();

function compileSchema(schema: JsonSchema): CompiledSchema {
  const compiled = compiledSchemas.get(schema) ?? {
    types: schema.type === undefined ? null : new Set(typeof schema.type === 'string' ? [schema.type] : schema.type),
    choices: schema.enum === undefined ? null : new Set(schema.enum.map((choice) => canonicalJson(choice))),
    required: new Set(schema.required),
  };
  compiledSchemas.set(schema, compiled);
  return compiled;
}

/** The first mismatch between a value and a valid schema, which must not change later. */
export function valueProblem(schema: JsonSchema, value: Json, path = ''): string | null {
  const at = path === '' ? 'the answer' : path;
  const { properties = {}, items, additionalProperties = true } = schema;
  const { types: allowed, choices, required } = compileSchema(schema);
  if (allowed !== null && ![...allowed].some((choice) => isOfType(value, choice)))
    return `${at} must be of type ${[schema.type].flat().join(' or ')}, but is ${describeValue(value)}`;
  if (choices !== null && !choices.has(canonicalJson(value)))
    return `${at} must be one of ${schema.enum!.map((choice) => JSON.stringify(choice)).join(', ')}, but is ${describeValue(value)}`;
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

export type ParsedJson = { ok: true; value: Json } | { ok: false; problem: string };

/** The JSON of a text (`answers/json.ts`): with a schema, its last value of the schema's types. */
export function readJsonText(text: string, { type }: JsonSchema = {}): ParsedJson {
  const isOfTypes = (value: unknown) => type === undefined || valueProblem({ type }, value as Json) === null;
  const read = readJson(text, isOfTypes) ?? readJson(text);
  if (!read) return { ok: false, problem: `has no JSON: ${describeValue(text)}` };
  const value = read.value as Json;
  const sizeError = sizeProblem(value, maxValueSize);
  return sizeError === null ? { ok: true, value } : { ok: false, problem: sizeError };
}

/** The allowed property names of a closed object schema; null if any name is allowed. */
export function allowedNames({ properties = {}, additionalProperties = true }: JsonSchema): string[] | null {
  // The schema may be invalid.
  return additionalProperties === false ? Object.keys(properties ?? {}) : null;
}

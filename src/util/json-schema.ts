/**
 * JSON Schemas (2020-12) of untrusted users, of the keywords below. Its size is bounded with all
 * references followed, and patterns are those of RE2: a check takes bounded time.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { canonicalJson, isObject } from './json.js';
import { compilePattern, maxSteps } from './linear-regex.js';

type Schema = Readonly<Record<string, unknown>>;

/** Maximum values of a schema with all references followed, and of all schemas of one scorer. */
export const maxSchemaSize = 1_000;

/** Maximum schemas in one another: Ajv writes the code of each into that of the one around it. */
const maxNesting = 32;

/** Alternatives of `oneOf` that nest one level deeper in Ajv's code. */
const alternatives = 8;

/** What the value of a keyword is: a schema, several, those of names, or no schema. */
const keywords: Readonly<Record<string, 'schema' | 'list' | 'named' | 'value'>> = {
  ...keywordsOf('schema', 'additionalProperties contains else if items not propertyNames then'),
  ...keywordsOf('schema', 'unevaluatedItems unevaluatedProperties'),
  ...keywordsOf('list', 'allOf anyOf oneOf prefixItems'),
  ...keywordsOf('named', '$defs definitions dependentSchemas patternProperties properties'),
  ...keywordsOf('value', 'const enum exclusiveMaximum exclusiveMinimum maxContains maxItems maxLength'),
  ...keywordsOf('value', 'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf'),
  ...keywordsOf('value', 'dependentRequired pattern required type uniqueItems'),
  ...keywordsOf('value', '$comment $ref $schema contentEncoding contentMediaType default deprecated description'),
  ...keywordsOf('value', 'examples format readOnly title writeOnly'),
};

function keywordsOf<Kind extends string>(kind: Kind, names: string): Record<string, Kind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]));
}

/** An object is checked field by field, and the rest of the schema by itself. */
export interface CompiledSchema {
  /** The fields that the schema describes or requires. */
  fields: readonly string[];
  /** Maximum characters of a value's JSON. */
  checked: number;
  /** Why the value of a field (undefined: absent) violates the schema, or null. */
  field(name: string, value: unknown): string | null;
  /** Why a value violates the schema apart from these fields, or null. */
  rest(value: unknown): string | null;
}

class SchemaError extends Error {
  /** What was read of the schema before. */
  size = 0;
}

// Compiling takes milliseconds, and a job checks thousands of outputs.
const compiledSchemas = new WeakMap<Schema, CompiledSchema>();

/** Why a schema cannot be used, as a predicate, or null. */
export function schemaProblem(schema: Schema): string | null {
  try {
    compileSchema(schema);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

/** Throws if `schemaProblem` reports a problem. */
export function compileSchema(schema: Schema): CompiledSchema {
  const known = compiledSchemas.get(schema);
  if (known) return known;
  const compiled = compile(schema);
  compiledSchemas.set(schema, compiled);
  return compiled;
}

/** The size of a schema; of one that cannot be used, as far as it was read. */
export function schemaSize(schema: Schema): number {
  try {
    return withoutReferences(schema).size;
  } catch (error) {
    if (error instanceof SchemaError) return error.size;
    throw error;
  }
}

/** One for all schemas: making one takes longer than compiling most of them. */
function createCompiler(): (schema: unknown) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { regExp } });
  // Ajv compares each item with each other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not repeat an item' },
    validate: (wanted: boolean, items: unknown[]) =>
      !wanted || new Set(items.map((item) => canonicalJson(item, { depth: 1_000 }))).size === items.length,
  });
  return (schema) => {
    try {
      return ajv.compile(schema as Schema);
    } catch (error) {
      throw new SchemaError(`is not a JSON schema: ${(error as Error).message}`, { cause: error });
    } finally {
      // Ajv keeps what it compiles.
      if (isObject(schema)) ajv.removeSchema(schema);
    }
  };
}

let compileWith: ReturnType<typeof createCompiler> | null = null;

function compile(schema: Schema): CompiledSchema {
  compileWith ??= createCompiler();
  const { root, size } = withoutReferences(schema);
  const { properties, required, ...others } = root;
  const described = isObject(properties) ? properties : {};
  const names = Object.keys(described);
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  // The parts leave out what is wrong in the lists of properties and required fields.
  compileWith(root);
  const validators = new Map<string, ValidateFunction>();
  for (const name of names) validators.set(name, compileWith(described[name]));
  const rest = compileWith({ ...others, properties: Object.fromEntries(names.map((name) => [name, true])) });
  return {
    fields: [...new Set([...names, ...needed])],
    checked: Math.floor(maxSteps / size),
    field(name, value) {
      if (value === undefined) return needed.includes(name) ? 'is required' : null;
      const validate = validators.get(name);
      return validate ? firstProblem(validate, value) : null;
    },
    rest: (value) => firstProblem(rest, value),
  };
}

function firstProblem(validate: ValidateFunction, value: unknown): string | null {
  const isValid: unknown = validate(value);
  if (isValid === true) return null;
  // An asynchronous check returns a promise, which is truthy and may reject unhandled.
  if (isValid !== false) throw new TypeError('A check by a JSON schema gave no answer.');
  const [first] = validate.errors ?? [];
  const { instancePath = '', message = 'is not valid', params } = first ?? {};
  const { allowedValues, allowedValue, additionalProperty } = (params ?? {}) as Record<string, unknown>;
  const detail = allowedValues ?? allowedValue ?? additionalProperty;
  return `${instancePath === '' ? '' : `${instancePath} `}${message}${detail === undefined ? '' : `: ${JSON.stringify(detail)}`}`;
}

/** The engine of Ajv's patterns; `code` would name it in generated modules. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = compilePattern(pattern);
    if ('problem' in compiled) throw new SchemaError(`${JSON.stringify(pattern)} ${compiled.problem}`);
    return compiled;
  },
  { code: 'compilePattern' },
);

/** A schema with its references replaced by their targets; its size counts values and patterns. */
function withoutReferences(schema: Schema): { root: Schema; size: number } {
  const read = { size: 0 };
  try {
    return { root: expandRoot(schema, read), size: read.size };
  } catch (error) {
    if (error instanceof SchemaError) error.size = read.size;
    throw error;
  }
}

function expandRoot(schema: Schema, read: { size: number }): Schema {
  const grow = (by: number) => {
    read.size += by;
    if (read.size <= maxSchemaSize) return;
    throw new SchemaError(`refers to itself, or has more than ${maxSchemaSize} values with its references followed`);
  };
  const expandValue = (value: unknown): unknown => {
    grow(1);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(expandValue);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expandValue(inner)]));
  };
  const expand = (value: unknown, depth: number): unknown => {
    if (!isObject(value)) return expandValue(value);
    grow(1);
    if (depth > maxNesting) throw new SchemaError(`refers to itself, or nests more than ${maxNesting} schemas`);
    const { $ref: reference, ...others } = value;
    if (typeof reference !== 'string') return expandFields(value, depth);
    const target = expand(resolve(schema, reference), depth + 1);
    if (Object.keys(others).length === 0) return target;
    const siblings = expandFields(others, depth);
    return { ...siblings, allOf: [target, ...(Array.isArray(siblings['allOf']) ? siblings['allOf'] : [])] };
  };
  const expandNamed = (schemas: Schema, depth: number): Schema => {
    grow(1);
    return Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, expand(inner, depth)]));
  };
  const expandFields = (value: Schema, depth: number): Schema =>
    Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const kind = Object.hasOwn(keywords, name) ? keywords[name]! : null;
        if (kind === null) throw new SchemaError(unsupported(name));
        if (name === 'pattern' && typeof inner === 'string') grow(patternSize(inner));
        // One at a time: the limit is reached before the others are compiled.
        if (name === 'patternProperties' && isObject(inner))
          for (const pattern of Object.keys(inner)) grow(patternSize(pattern));
        if (kind === 'schema') return [name, expand(inner, depth + 1)];
        if (kind === 'named' && isObject(inner)) return [name, expandNamed(inner, depth + 1)];
        if (kind === 'list' && Array.isArray(inner)) {
          grow(1);
          const expandItem = (item: unknown, at: number) => {
            if (name === 'oneOf') grow(Math.floor(at / alternatives));
            return expand(item, depth + 1);
          };
          return [name, inner.map(expandItem)];
        }
        return [name, expandValue(inner)];
      }),
    );
  const { $schema: _dialect, $defs: _targets, definitions: _olderTargets, ...root } = schema;
  let whole = root;
  while (typeof whole['$ref'] === 'string') {
    grow(1);
    const { $ref: reference, ...others } = whole;
    const target = resolve(schema, reference as string);
    whole = { ...(isObject(target) && target), ...others };
  }
  return expandFields(whole, 0);
}

function unsupported(name: string): string {
  const hint = /^\$(id|anchor|dynamicRef|dynamicAnchor)$/.test(name) ? '; refer to "#/$defs/…"' : '';
  return `has the keyword ${JSON.stringify(name.slice(0, 100))}, which is not supported${hint}`;
}

function patternSize(pattern: string): number {
  const compiled = compilePattern(pattern);
  if ('problem' in compiled)
    throw new SchemaError(`has the pattern ${JSON.stringify(pattern)}: it ${compiled.problem}`);
  return compiled.cost;
}

/** The value that a reference such as `#/$defs/name` names. */
function resolve(root: Schema, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) throw new SchemaError(`refers to "${reference}"; refer to "#/$defs/…"`);
  const names = reference.split('/').slice(1);
  const found = names.reduce<unknown>((value, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Schema)[key]
      : undefined;
  }, root);
  if (found === undefined) throw new SchemaError(`refers to "${reference}", which it does not have`);
  return found;
}

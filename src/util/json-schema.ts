/**
 * JSON Schemas (2020-12) of untrusted users. Its size is bounded with all references followed, and
 * patterns are those of RE2: a check takes bounded time.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isObject } from './json.js';
import { compilePattern, maxSteps } from './linear-regex.js';

type Schema = Readonly<Record<string, unknown>>;

const maxSize = 1_000;

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

class SchemaError extends Error {}

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

function compile(schema: Schema): CompiledSchema {
  const { root, size } = withoutReferences(schema);
  const { properties, required, ...others } = root;
  const described = isObject(properties) ? properties : {};
  const names = Object.keys(described);
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { regExp } });
  const compileWith = (inner: unknown): ValidateFunction => {
    try {
      return ajv.compile(inner as Schema);
    } catch (error) {
      throw new SchemaError(`is not a JSON schema: ${(error as Error).message}`, { cause: error });
    }
  };
  // The parts leave out what is wrong in the lists of properties and required fields.
  compileWith(root);
  const validators = new Map(names.map((name) => [name, compileWith(described[name])]));
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
  if (validate(value)) return null;
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
  let size = 0;
  const grow = (by: number) => {
    size += by;
    if (size <= maxSize) return;
    throw new SchemaError(`refers to itself, or has more than ${maxSize} values with its references followed`);
  };
  const expand = (value: unknown): unknown => {
    grow(1);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(expand);
    const { $ref: reference, ...others } = value as Schema;
    if (typeof reference !== 'string') return expandFields(value as Schema);
    const target = expand(resolve(schema, reference));
    if (Object.keys(others).length === 0) return target;
    const siblings = expandFields(others);
    return { ...siblings, allOf: [target, ...(Array.isArray(siblings['allOf']) ? siblings['allOf'] : [])] };
  };
  const expandFields = (value: Schema): Schema =>
    Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (/^\$(id|anchor|dynamicRef|dynamicAnchor)$/.test(name) && typeof inner === 'string')
          throw new SchemaError(`has ${name}, which is not supported; refer to "#/$defs/…"`);
        if (name === 'pattern' && typeof inner === 'string') grow(patternSize(inner));
        if (name === 'patternProperties' && isObject(inner)) Object.keys(inner).map(patternSize).forEach(grow);
        return [name, expand(inner)];
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
  return { root: expandFields(whole), size };
}

function patternSize(pattern: string): number {
  const compiled = compilePattern(pattern);
  if ('problem' in compiled)
    throw new SchemaError(`has the pattern ${JSON.stringify(pattern)}: it ${compiled.problem}`);
  return compiled.size;
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

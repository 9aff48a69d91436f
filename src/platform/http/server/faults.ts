/** Field errors from zod's issues. */
import type { z } from 'zod';
import { unknownField } from '../../../contracts/close-names.js';
import { partsOf } from '../../../contracts/schema-parts.js';
import { listed, pointerOf, refuse, type ApiError } from './errors.js';

type Path = readonly PropertyKey[];

interface ValidationIssue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  /** The causes of an `invalid_key` issue. */
  issues?: readonly { message: string }[];
}

/** A problem, by its path in the body. */
export interface Fault {
  path: Path;
  message: string;
}

/** The first faults: one per field; unknown fields by name, with the field that was meant. */
export function faultsIn(issues: readonly ValidationIssue[], schema: z.ZodType): Fault[] {
  const faults = issues.flatMap(({ code, path, message, keys, issues: ofName }): (() => Fault)[] =>
    code === 'unrecognized_keys' && keys
      ? keys.map((key) => () => ({ path: [...path, key], message: unknownField(key, fieldsAt(schema, path)) }))
      : [() => ({ path, message: code === 'invalid_key' && ofName?.[0] ? `the name ${ofName[0].message}` : message })],
  );
  // Suggest for listed faults only: a body can have many unknown fields.
  return faults.slice(0, listed).map((fault) => fault());
}

/** The 422 for zod's issues. */
export function fromIssues(issues: readonly ValidationIssue[], schema: z.ZodType): ApiError {
  const errors = faultsIn(issues, schema).map(({ path, message }) => ({ pointer: pointerOf(path), message }));
  return refuse.invalid(errors);
}

/** The fields of the object at a path, of all forms that it can have; none if it is no object. */
export function fieldsAt(schema: z.ZodType, path: Path): string[] {
  const { shape, options, innerType, in: input, element, valueType } = partsOf(schema);
  if (options) return options.flatMap((option) => fieldsAt(option, path));
  const wrapped = innerType ?? input;
  if (wrapped) return fieldsAt(wrapped, path);
  if (path.length === 0) return Object.keys(shape ?? {});
  const [first, ...rest] = path;
  const field = shape && Object.hasOwn(shape, first!) ? shape[String(first)] : undefined;
  const next = field ?? element ?? valueType;
  return next ? fieldsAt(next, rest) : [];
}

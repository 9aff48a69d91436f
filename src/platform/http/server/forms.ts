/** Bodies that are sent in several forms, of which the OpenAPI document has one. */
import type { z } from 'zod';
import { withoutNulls } from '../../../contracts/nulls.js';
import { ApiError, listed, refuse, type FieldError } from './errors.js';
import { fromIssues } from './faults.js';
import { parseRequest } from './schema.js';

type Moves = readonly (readonly [to: string, from: string])[];

/** A request in one of the forms of its body. */
export interface Form {
  schema: z.ZodType;
  /** The body in the terms of the schema. */
  body: unknown;
  /** Faults that `body` does not show. */
  errors?: FieldError[];
  /** What stands elsewhere in `body` than in the request, as JSON pointers; inner fields first. */
  moves?: Moves;
}

/** A valid body, with the moves of its form. */
export interface ReadBody {
  body: unknown;
  moves: Moves;
}

export function readForm({ schema, body, errors = [], moves = [] }: Form): { value: ReadBody } | { error: ApiError } {
  const result = parseRequest(schema, withoutNulls(schema, body));
  if (result.success && errors.length === 0) return { value: { body: result.data, moves } };
  const faults = result.success ? [] : fromIssues(result.error.issues, schema).errors;
  const all = [...errors, ...faults.map((fault) => asSent(fault, moves))];
  return { error: refuse.invalid(all.slice(0, listed)) };
}

/** A refusal of a body, in the terms of the request. */
export function refusalAsSent(error: unknown, moves: Moves): unknown {
  if (moves.length === 0 || !(error instanceof ApiError)) return error;
  if (error.status !== 422 || error.errors.length === 0) return error;
  const errors = error.errors.map((fault) => asSent(fault, moves));
  return refuse.invalid(errors, error.code);
}

function asSent({ pointer, message }: FieldError, moves: Moves): FieldError {
  const move = moves.find(([to]) => pointer === to || pointer.startsWith(`${to}/`));
  return { pointer: move ? move[1] + pointer.slice(move[0].length) : pointer, message };
}

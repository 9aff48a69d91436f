import { RatchetError, type FieldError } from '../../../src/client/index.js';

/**
 * The faulty fields of a refused request. `holder` is the pointer of the object whose fields a form
 * shows; pointers are relative to it.
 */
export function fieldErrors(error: unknown, holder = ''): FieldError[] {
  if (!(error instanceof RatchetError)) return [];
  return error.fieldErrors.map(({ pointer, message }) => ({
    pointer: holder !== '' && pointer.startsWith(`${holder}/`) ? pointer.slice(holder.length) : pointer,
    message,
  }));
}

const isBelow = (pointer: string, field: string) => pointer === field || pointer.startsWith(`${field}/`);

/** What is wrong with a field, or below it but for some of its fields; undefined: nothing. */
export function errorAt(
  errors: readonly FieldError[],
  field: string,
  except: readonly string[] = [],
): string | undefined {
  const lines = errors
    .map(({ pointer, message }) => ({ message, pointer, below: pointer.slice(field.length) }))
    .filter(({ pointer, below }) => isBelow(pointer, field) && !except.some((name) => isBelow(below, name)))
    .map(({ below, message }) => `${below.slice(1)} ${message}`.trim());
  return lines.length === 0 ? undefined : lines.join('; ');
}

/** Errors of fields that no part of the form shows. */
export function otherErrors(errors: readonly FieldError[], shown: readonly string[]): FieldError[] {
  return errors.filter(({ pointer }) => !shown.some((field) => isBelow(pointer, field)));
}

import { isObject } from '../../../util/json.js';
import { refusedAt, type Json } from './form.js';

export type Path = readonly (string | number)[];

/** `input[0].content`, as messages name a field. */
export function nameOf(path: Path): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
}

export function objectAt(value: unknown, path: Path): Json {
  if (isObject(value)) return value as Json;
  throw refusedAt(path, `${nameOf(path)} must be an object.`);
}

export function listAt(value: unknown, path: Path): unknown[] {
  if (Array.isArray(value)) return value;
  throw refusedAt(path, `${nameOf(path)} must be a list.`);
}

export function textAt(value: unknown, path: Path): string {
  if (typeof value === 'string') return value;
  throw refusedAt(path, `${nameOf(path)} must be a string.`);
}

/** The fields that have a value. */
export function given(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** The parts of a content: a string is one text. */
export function partsAt<Part>(
  value: unknown,
  path: Path,
  read: (part: Json, path: Path) => Part,
  text: (text: string) => Part,
): Part[] {
  if (typeof value === 'string') return [text(value)];
  if (!Array.isArray(value)) throw refusedAt(path, `${nameOf(path)} must be a string or a list of parts.`);
  return value.map((part, at) => read(objectAt(part, [...path, at]), [...path, at]));
}

/** A part of a chat message's content. */
export interface ChatPart extends Json {
  type: string;
}

export const textPart = (text: string): ChatPart => ({ type: 'text', text });

/** The content of a chat message: a text as such, which every provider reads. */
export function contentOf(parts: readonly ChatPart[]): string | ChatPart[] {
  if (parts.length === 0) return '';
  const [only] = parts;
  return parts.length === 1 && only!.type === 'text' ? (only!['text'] as string) : [...parts];
}

/** The texts of parts. */
export function textOf(parts: readonly ChatPart[]): string {
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

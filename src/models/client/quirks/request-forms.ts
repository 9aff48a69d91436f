/**
 * The form of a request that a model takes. The same meaning under another name is sent for
 * everybody; a field with a meaning is left out only where it is not our caller's.
 */
import { asObject } from '../../../util/json.js';
import { optional, type Lesson } from './lessons.js';

type Json = Record<string, unknown>;

export interface Form {
  /** The same object where nothing is changed. */
  body: Json;
  applied: Lesson[];
  /** Fields whose meaning is lost. */
  left: string[];
}

/** `callers`: the fields of our caller. */
export function formOf(asked: Json, lessons: ReadonlySet<Lesson>, callers: ReadonlySet<string>): Form {
  const form: Form = { body: asked, applied: [], left: [] };
  if (lessons.size === 0) return form;
  nameLimit(form, lessons);
  leaveOut(form, lessons, callers);
  formatAnswer(form, lessons, callers);
  nameRoles(form, lessons);
  if (lessons.has('stream') && form.body['stream'] === true) {
    without(form, 'stream', 'stream');
    if (has(form.body, 'stream_options')) without(form, 'stream', 'stream_options');
  }
  return form;
}

function nameLimit(form: Form, lessons: ReadonlySet<Lesson>): void {
  const { max_tokens: old, max_completion_tokens: recent } = form.body;
  const both = 'max_tokens+max_completion_tokens';
  if (lessons.has(both) && old !== undefined && old === recent) without(form, both, 'max_tokens');
  const rename = (name: 'max_tokens' | 'max_completion_tokens', other: string) => {
    const { [name]: value, [other]: kept = value, ...others } = form.body;
    if (!lessons.has(name) || value === undefined || kept !== value) return;
    form.body = { ...others, [other]: value };
    form.applied.push(name);
  };
  rename('max_tokens', 'max_completion_tokens');
  rename('max_completion_tokens', 'max_tokens');
}

function leaveOut(form: Form, lessons: ReadonlySet<Lesson>, callers: ReadonlySet<string>): void {
  const drop = (lesson: Lesson, name: string) => {
    if (!has(form.body, name)) return;
    const isEmpty = hasDefault(name, form.body);
    if (!isEmpty && callers.has(name)) return;
    if (!isEmpty) form.left.push(name);
    without(form, lesson, name);
  };
  for (const name of optional) if (lessons.has(name)) drop(name, name);
  if (lessons.has('logprobs') && !has(form.body, 'logprobs')) drop('logprobs', 'top_logprobs');
  if (lessons.has('temperature=0') && form.body['temperature'] === 0) drop('temperature=0', 'temperature');
  if (lessons.has('temperature+top_p') && has(form.body, 'temperature') && has(form.body, 'top_p')) {
    drop('temperature+top_p', callers.has('top_p') && !callers.has('temperature') ? 'temperature' : 'top_p');
  }
}

/** Whether a field has its default value, so that the request means the same without it. */
function hasDefault(name: string, body: Json): boolean {
  const value = body[name];
  if (value === null) return true;
  if (name === 'presence_penalty' || name === 'frequency_penalty') return value === 0;
  if (name === 'top_p' || name === 'n') return value === 1;
  if (name === 'logprobs') return value === false;
  return name === 'parallel_tool_calls' && (value === true || !Array.isArray(body['tools']));
}

/** A schema becomes any object, and that a free text; an object is also one of an open schema. */
function formatAnswer(form: Form, lessons: ReadonlySet<Lesson>, callers: ReadonlySet<string>): void {
  const type = asObject(form.body['response_format'])?.['type'];
  const isCallers = callers.has('response_format');
  if (type === 'text')
    return void (lessons.has('response_format') && without(form, 'response_format', 'response_format'));
  if (type !== 'json_schema' && type !== 'json_object') return;
  const lesson = lessons.has('response_format') ? 'response_format' : type;
  if (!lessons.has(lesson)) return;
  if (type === 'json_object' && lesson === type && !lessons.has('json_schema')) {
    const open = { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } };
    return change(form, type, { response_format: open });
  }
  if (isCallers) return;
  form.left.push('response_format');
  // Providers refuse `json_object` where no message has the word.
  const mayBeObject = type === 'json_schema' && lesson === type && !lessons.has('json_object');
  if (!mayBeObject || !/json/i.test(JSON.stringify(form.body['messages'] ?? ''))) {
    return without(form, lessons.has('json_object') ? 'json_object' : lesson, 'response_format');
  }
  change(form, type, { response_format: { type: 'json_object' } });
}

/** A model without instructions of the system gets the same words before the user's first. */
function nameRoles(form: Form, lessons: ReadonlySet<Lesson>): void {
  const { messages } = form.body;
  if (!Array.isArray(messages) || !(lessons.has('system') || lessons.has('developer'))) return;
  const roleOf = (message: unknown) => asObject(message)?.['role'];
  if (!lessons.has('system')) {
    if (!messages.some((message) => roleOf(message) === 'developer')) return;
    const renamed = messages.map((message: unknown) =>
      roleOf(message) === 'developer' ? { ...asObject(message), role: 'system' } : message,
    );
    return change(form, 'developer', { messages: renamed });
  }
  const isInstruction = (message: unknown) => roleOf(message) === 'system' || roleOf(message) === 'developer';
  if (!messages.some(isInstruction)) return;
  const folded: unknown[] = [];
  let before: Json | null = null;
  for (const message of messages) {
    const own = asObject(message);
    const merged: Json | null = before ? { ...own, content: joined(before, own) } : own;
    if (isInstruction(message)) before = { ...merged, role: 'user' };
    else if (before !== null && roleOf(message) === 'user') {
      folded.push(merged);
      before = null;
    } else {
      if (before) folded.push(before);
      before = null;
      folded.push(message);
    }
  }
  if (before) folded.push(before);
  change(form, 'system', { messages: folded });
}

/** The contents of two messages: texts, or lists of parts. */
function joined(first: Json, second: Json | null): unknown {
  const contents = [first['content'], second?.['content']];
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  return contents.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []),
  );
}

function has(body: Json, name: string): boolean {
  return body[name] !== undefined;
}

function change(form: Form, lesson: Lesson, fields: Json): void {
  form.body = { ...form.body, ...fields };
  form.applied.push(lesson);
}

function without(form: Form, lesson: Lesson, name: string): void {
  const { [name]: _, ...others } = form.body;
  form.body = others;
  form.applied.push(lesson);
}

/**
 * Which parts of a request a refusal names as not supported. The words are those of vendors and
 * servers; a value out of range, or a schema with a fault, is no lesson.
 */
import { asObject } from '../../../util/json.js';
import { optional, type Lesson } from './lessons.js';

type Json = Record<string, unknown>;

/** Refusals of the key, the credit or the moment. */
const ofOthers = new Set([401, 402, 407, 408, 409, 425, 429]);
const maxChars = 8_192;

const unsupported = new RegExp(
  [
    String.raw`unsupported|unrecogni[sz]ed|unavailable|deprecated|extra_forbidden|no longer`,
    String.raw`(?:not|n['’]t|never) (?:be |currently |yet |fully )*(?:support|permitted|allowed|enabled|available|implemented|accept)`,
    String.raw`not (?:a )?valid (?:field|param|argument)|unexpected (?:keyword|field|param|argument|role)`,
    String.raw`(?:unknown|extraneous|invalid) (?:name|field|param\w*|argument|variant|key|role)`,
    String.raw`cannot find field|(?:cannot|can['’]t) (?:both )?be (?:both )?(?:specified|set|used)|at the same time`,
    String.raw`only .{0,40}(?:is|are) (?:allowed|supported)|may only be (?:set|used)|not one of`,
    String.raw`must be ['"\x60]?(?:json_schema|json_object|text)\b`,
  ].join('|'),
  'i',
);
const codes = /["'](?:unsupported_(?:parameter|param|value)|unknown_parameter|invalid_parameter_combination)["']/;
/** A fault in the schema or in the messages, beside the words for an unsupported field. */
const faultOfSchema = /invalid schema|in context ?=|must contain the word|json_schema\.(?:schema|name)|\$ref|keyword/i;

const named = (name: string) => new RegExp(`(?<![A-Za-z_])${name.replaceAll('_', '_?')}(?![A-Za-z_])`, 'i');
const names: Record<string, RegExp> = {
  ...Object.fromEntries(optional.map((name) => [name, named(name)])),
  n: /(?<![\w'])['"`]n['"`]|\bn ?(?:=|>)|\bn (?:value|param)|param(?:eter)? n\b/,
  max_tokens: named('max_tokens'),
  max_completion_tokens: named('max_completion_tokens'),
  response_format: /response_?format|json_?(?:schema|object)|json[ -](?:mode|schema)|structured output/i,
};
const roleOf: Record<'system' | 'developer', RegExp> = {
  developer:
    /(?:variant|role|support|input['"]?:) ?['"`]?developer\b|['"`]?\bdeveloper\b['"`]? (?:is not one of|role|message)/i,
  system:
    /(?:variant|role|support) ?['"`]?system\b|\bsystem\b['"`]? (?:is not one of|role|message|prompt|instruction)/i,
};
const noStream =
  /verified to stream|(?:not|n['’]t) support stream(?:ing)?\b|stream(?:ing)? (?:is )?(?:not |un)(?:supported|available)/i;

/** The lessons of a refusal about the request that was sent; none: it says nothing of its form. */
export function lessonsOf({ status, text }: { status: number; text: string }, sent: Json): Lesson[] {
  if (ofOthers.has(status)) return [];
  const said = plain(text);
  const parts = said.split(/(?<=[.!?])\s+(?=[A-Z'"`])|\n|\}\s*,\s*\{/).filter((part) => unsupported.test(part));
  const params = [...said.matchAll(/["']param["']: ?["']([\w.[\]]+)["']/g)].map(([, param]) => param!);
  const hasCode = codes.test(said);
  const isNamed = (name: string) =>
    parts.some((part) => names[name]!.test(part)) ||
    (hasCode && params.some((param) => param === name || param.startsWith(`${name}.`)));
  const has = (name: string) => sent[name] !== undefined;
  const lessons: Lesson[] = [];

  const limits = (['max_tokens', 'max_completion_tokens'] as const).filter((name) => has(name) && isNamed(name));
  lessons.push(...(limits.length === 2 ? (['max_tokens+max_completion_tokens'] as const) : limits));

  const fields = optional.filter((name) => has(name) && isNamed(name));
  const together = fields.includes('temperature') && fields.includes('top_p') && /both|at the same time/i.test(said);
  lessons.push(...fields.filter((name) => !together || !/^(?:temperature|top_p)$/.test(name)));
  if (together) lessons.push('temperature+top_p');
  if (sent['temperature'] === 0 && isTooLow(said)) lessons.push('temperature=0');

  if (has('response_format') && isNamed('response_format') && !faultOfSchema.test(said)) {
    const type = asObject(sent['response_format'])?.['type'];
    lessons.push(type === 'json_schema' || type === 'json_object' ? type : 'response_format');
  }
  const role = refusedRole(said, parts, rolesOf(sent));
  if (role) lessons.push(role);
  if (has('stream_options') && /stream_?options|include_?usage/i.test(said)) lessons.push('stream_options');
  const isStream = noStream.test(said) || (hasCode && params.includes('stream'));
  if (sent['stream'] === true && isStream) lessons.push('stream');
  return lessons;
}

/** Without escapes, an echo of the request, and the advice to use another name. */
function plain(text: string): string {
  const lines = text
    .slice(0, maxChars)
    .replaceAll(/(?<!\\)\\+n/g, '\n')
    .replaceAll('\\', '');
  return lines.replace(/["']input["']: ?\{.*$/s, '').replaceAll(/\buse ['"`]?\w+['"`]? instead/gi, '');
}

/** Text Generation Inference takes no temperature of 0, and decides greedily without one. */
function isTooLow(said: string): boolean {
  return /temperature.{0,40}(?:strictly positive|greater than 0|> ?0(?:\.0)?\b)/i.test(said);
}

function rolesOf({ messages }: Json): Set<unknown> {
  return new Set(Array.isArray(messages) ? messages.map((message) => asObject(message)?.['role']) : []);
}

/** `system` in a list of roles that are accepted is no refusal of it. */
function refusedRole(said: string, parts: string[], roles: Set<unknown>): 'system' | 'developer' | null {
  const isAbout = (role: 'system' | 'developer') => parts.some((part) => roleOf[role].test(part));
  if (roles.has('developer')) {
    const isLiteral = /literal_error|input should be/i.test(said) && /\brole\b/.test(said);
    if (isAbout('developer') || isLiteral) return 'developer';
  }
  const isRefused = isAbout('system') || /only (?:support )?user,? (?:and|or) (?:assistant|model) roles/i.test(said);
  return roles.has('system') && isRefused ? 'system' : null;
}

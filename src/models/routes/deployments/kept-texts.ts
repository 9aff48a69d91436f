/** What a deployment keeps of a request and its answer: JSON of bounded size, without files. */
import type { Logger } from 'pino';
import type { LogSettings } from '../../../kinds/deployment/contract/settings.js';
import { boundDepth, parseObject } from '../../../clients/net/untrusted.js';
import { JsonText } from '../../../platform/db/json.js';
import type { Db } from '../../../platform/db/db.js';
import { asObject } from '../../../util/json.js';
import { withoutFiles } from './inline-files.js';
import { redactTexts } from './redact.js';
import { createTextRoom } from './text-room.js';

/** Maximum characters of the JSON of a request, and of an answer. */
const maxKeptChars = 256 * 1_024;

/** JSON texts; null: too long to be kept. */
export interface KeptTexts {
  request: string | null;
  answer: string | null;
}

/** What is kept of a request. */
export interface KeptRequest {
  body: Record<string, unknown>;
  redact: LogSettings['redact'];
}

/** Reads what is kept of requests. Without room, and after a fault, that is nothing. */
export function createTextKeeper(deps: { db: Pick<Db, 'orgApart'>; log: Logger }) {
  const hasRoom = createTextRoom(deps);
  return async (orgId: string, { body, redact }: KeptRequest, response: unknown): Promise<KeptTexts | null> => {
    try {
      return (await hasRoom(orgId)) ? await keptTexts(body, response, redact) : null;
    } catch (err) {
      deps.log.error({ err, org_id: orgId }, 'texts of a request are not kept');
      return null;
    }
  };
}

/** The caller's request without its model, and the choices or the error of its answer. */
async function keptTexts(
  { model: _ours, ...request }: Record<string, unknown>,
  response: unknown,
  redact: LogSettings['redact'],
): Promise<KeptTexts> {
  return { request: await keptJson(request, redact), answer: await keptJson(answerOf(response), redact) };
}

/** Without the probabilities of tokens, which spell what is redacted. */
function answerOf(response: unknown): Record<string, unknown> {
  const { choices, error } = (response instanceof JsonText ? parseObject(response.text) : asObject(response)) ?? {};
  const kept = Array.isArray(choices) ? choices.map(withoutLogprobs) : undefined;
  return { ...(kept && { choices: kept }), ...(error !== undefined && { error }) };
}

function withoutLogprobs(choice: unknown): unknown {
  const { logprobs: _left, ...kept } = asObject(choice) ?? {};
  return kept;
}

async function keptJson(value: unknown, redact: LogSettings['redact']): Promise<string | null> {
  const bounded = boundDepth(value);
  const isRead = redact.length > 0;
  const texts: string[] = [];
  mapTexts(bounded, isRead, (text) => {
    texts.push(withoutFiles(text));
    return text;
  });
  if (texts.reduce((sum, text) => sum + text.length, 0) > maxKeptChars) return null;
  const redacted = isRead ? await redactTexts(texts, redact) : texts;
  if (redacted === null) return null;
  let at = 0;
  const json = JSON.stringify(mapTexts(bounded, isRead, () => redacted[at++]!));
  return json.length > maxKeptChars ? null : json;
}

/** Whole numbers of at least this may be those of cards or accounts. */
const leastNumber = 1e9;

/**
 * A JSON value with its texts replaced, in a fixed order. `isRead`: JSON in texts is read, and
 * names and large numbers are texts, too.
 */
function mapTexts(value: unknown, isRead: boolean, replace: (text: string) => string): unknown {
  if (typeof value === 'string') {
    const inner = isRead ? innerJson(value) : undefined;
    return inner === undefined ? replace(value) : JSON.stringify(mapTexts(inner, isRead, replace));
  }
  if (isRead && typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= leastNumber) {
    const text = replace(String(value));
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, isRead, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [isRead ? replace(name) : name, mapTexts(item, isRead, replace)]),
  );
}

/** The object or list that a text is, such as the arguments of a tool call; undefined: none. */
function innerJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return boundDepth(JSON.parse(text));
  } catch {
    return undefined;
  }
}

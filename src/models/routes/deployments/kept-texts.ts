/** What a deployment keeps of a request and its answer: JSON of bounded size, without files. */
import type { Logger } from 'pino';
import type { LogSettings } from '../../../kinds/deployment/contract/settings.js';
import { boundDepth, parseObject } from '../../../clients/net/untrusted.js';
import { shareOf } from '../../../core/deployments/sampling.js';
import { JsonText } from '../../../platform/db/json.js';
import type { Db } from '../../../platform/db/db.js';
import { asObject } from '../../../util/json.js';
import { redactTexts } from './redact.js';
import { createTextRoom } from './text-room.js';

/** Maximum characters of the JSON of a request, and of an answer. */
const maxKeptChars = 256 * 1_024;

/** JSON texts; null: too long to be kept. */
export interface KeptTexts {
  request: string | null;
  answer: string | null;
}

/** Whether the texts of an episode, or of an answer alone, are kept. */
export function isSampled(log: LogSettings | undefined, id: string): log is LogSettings {
  return log !== undefined && shareOf(id) < log.sample_rate;
}

/** A request whose texts are to be kept. */
export interface KeptRequest {
  body: Record<string, unknown>;
  log: LogSettings;
}

/** Reads what is kept of requests. Without room, and after a fault, that is nothing. */
export function createTextKeeper(deps: { db: Pick<Db, 'orgApart'>; log: Logger }) {
  const hasRoom = createTextRoom(deps);
  return async (orgId: string, { body, log }: KeptRequest, response: unknown): Promise<KeptTexts | null> => {
    try {
      return (await hasRoom(orgId)) ? await keptTexts(body, response, log) : null;
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
  { redact }: Pick<LogSettings, 'redact'>,
): Promise<KeptTexts> {
  return { request: await keptJson(request, redact), answer: await keptJson(answerOf(response), redact) };
}

function answerOf(response: unknown): Record<string, unknown> {
  const { choices, error } = (response instanceof JsonText ? parseObject(response.text) : asObject(response)) ?? {};
  return { ...(choices !== undefined && { choices }), ...(error !== undefined && { error }) };
}

async function keptJson(value: unknown, redact: LogSettings['redact']): Promise<string | null> {
  const bounded = boundDepth(value);
  const texts: string[] = [];
  mapTexts(bounded, (text) => {
    texts.push(withoutFiles(text));
    return text;
  });
  if (texts.reduce((sum, text) => sum + text.length, 0) > maxKeptChars) return null;
  const redacted = redact.length === 0 ? texts : await redactTexts(texts, redact);
  if (redacted === null) return null;
  let at = 0;
  const json = JSON.stringify(mapTexts(bounded, () => redacted[at++]!));
  return json.length > maxKeptChars ? null : json;
}

/** A JSON value with its texts replaced, in a fixed order. */
function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, replace)]));
}

/** A text without the bytes of an inline file. */
function withoutFiles(text: string): string {
  const [head] = /^data:[\w.+-]{1,80}\/[\w.+-]{1,80}(?:;[\w=.-]{1,80}){0,4};base64,/.exec(text) ?? [];
  if (head !== undefined) return `${head}[${text.length - head.length} characters left out]`;
  // Audio and files of OpenAI's form are base64 without a head.
  const isBase64 = text.length > 2_048 && /^[A-Za-z0-9+/]{2048}/.test(text) && !/\s/.test(text.slice(0, 4_096));
  return isBase64 ? `[${text.length} characters left out]` : text;
}

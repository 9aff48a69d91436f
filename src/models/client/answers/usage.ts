import { field } from '../../../clients/net/untrusted.js';
import { asObject } from '../../../util/json.js';

type Json = Record<string, unknown>;

/** Tokens of a call; null: not told. The parts are among `prompt` and `completion`. */
export interface TokenCounts {
  prompt: number | null;
  completion: number | null;
  cacheRead: number;
  cacheWrite: number;
  /** Of `cacheWrite`: kept for an hour, at a price of its own. */
  cacheWriteHour: number;
  audioIn: number;
  audioOut: number;
  imageOut: number;
}

/**
 * The usage of a completion or chunk, wherever the provider puts it: at the top, in `x_groq`, in a
 * choice (Moonshot), or in its message; null: nowhere.
 */
export function usageIn(body: unknown): Json | null {
  const choices = field(body, 'choices');
  const list: unknown[] = Array.isArray(choices) ? choices : [];
  const places = [
    field(body, 'usage'),
    field(field(body, 'x_groq'), 'usage'),
    ...list.map((choice) => field(choice, 'usage')),
    ...list.map((choice) => field(field(choice, 'message'), 'usage') ?? field(field(choice, 'delta'), 'usage')),
    field(body, 'usageMetadata'),
  ];
  return places.map(asObject).find((usage) => usage !== null && Object.keys(usage).length > 0) ?? null;
}

/** The usage after another chunk: the last one counts, with what it leaves out from before. */
export function laterUsage(before: Json | null, now: unknown): Json | null {
  const later = asObject(now);
  if (!later || Object.keys(later).length === 0) return before;
  const { prompt, completion } = tokensIn(later);
  return before && (prompt === null || completion === null) ? { ...before, ...told(later) } : later;
}

function told(usage: Json): Json {
  return Object.fromEntries(Object.entries(usage).filter(([name, value]) => value !== null && name !== '__proto__'));
}

/** The tokens of a usage in the names of OpenAI, Anthropic, DeepSeek and Google. */
export function tokensIn(usage: unknown): TokenCounts {
  const read = (...names: string[]) => first(names.map((name) => count(field(usage, name))));
  const detail = (of: string, name: string) => count(field(field(usage, of), name));
  const write = read('cache_creation_input_tokens') ?? detail('prompt_tokens_details', 'cache_write_tokens') ?? 0;
  const ownRead = read('cache_read_input_tokens');
  const cached =
    detail('prompt_tokens_details', 'cached_tokens') ??
    read('cached_tokens', 'prompt_cache_hit_tokens') ??
    detail('input_tokens_details', 'cached_tokens') ??
    ownRead ??
    read('cachedContentTokenCount') ??
    0;
  const given = read('prompt_tokens', 'promptTokenCount');
  // Anthropic's own `input_tokens`, and gateways that copy it, leave the cache out.
  const isApart = given === null ? read('input_tokens') !== null && (ownRead !== null || write > 0) : false;
  const base = given ?? read('input_tokens');
  const isBeside = base !== null && (isApart || (write > 0 && cached + write > base));
  const prompt = base === null ? null : isBeside ? base + cached + write : base;
  const answered = read('completion_tokens', 'output_tokens', 'candidatesTokenCount');
  const total = read('total_tokens', 'totalTokenCount');
  const completion = base === null || total === null ? answered : Math.max(answered ?? 0, total - (prompt ?? 0));
  const within = (part: number | null, whole: number | null) => Math.min(part ?? 0, whole ?? 0);
  const cacheWrite = within(write, prompt);
  return {
    prompt,
    completion,
    cacheRead: within(cached, (prompt ?? 0) - cacheWrite),
    cacheWrite,
    cacheWriteHour: within(detail('cache_creation', 'ephemeral_1h_input_tokens'), cacheWrite),
    audioIn: within(
      detail('prompt_tokens_details', 'audio_tokens') ?? detail('input_tokens_details', 'audio_tokens'),
      prompt,
    ),
    audioOut: within(
      detail('completion_tokens_details', 'audio_tokens') ?? detail('output_tokens_details', 'audio_tokens'),
      completion,
    ),
    imageOut: within(
      detail('completion_tokens_details', 'image_tokens') ?? detail('output_tokens_details', 'image_tokens'),
      completion,
    ),
  };
}

function first(values: (number | null)[]): number | null {
  return values.find((value) => value !== null) ?? null;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

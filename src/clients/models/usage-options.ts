import { Readable } from 'node:stream';
import { modelAnswer } from './model-answer.js';
import type { ModelAnswer } from './provider-answer.js';
import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/** Statuses of a request with a field that the provider does not know. */
const refusals = new Set([400, 404, 422]);

/**
 * Asks for the usage of streams by `stream_options`, unless the caller decides. A provider that
 * refuses the field is asked once without it, and its address is remembered: by what it answers,
 * not by its name. Mistral, which sends usage anyway, needs no lesson.
 */
export function createUsageOptions() {
  const known = new Map<string, 'takes' | 'refuses'>();
  return {
    /** `json`: the body's; `send`: asks with a body of JSON. */
    async ask(
      url: string,
      provider: string,
      body: Json,
      json: string,
      send: (json: string) => Promise<ModelAnswer>,
    ): Promise<ModelAnswer> {
      const asking = body['stream'] === true && provider !== 'mistral' ? withUsage(body, json) : null;
      if (asking === null || known.get(url) === 'refuses') return send(json);
      const answer = await send(asking);
      if (answer.status < 300) known.set(url, 'takes');
      if (!refusals.has(answer.status)) return answer;
      const bytes = await answer.read();
      const isNamed = /stream_?options|include_?usage/i.test(bytes.toString());
      if (!isNamed && known.get(url) === 'takes') return again(answer, bytes);
      const without = await send(json);
      if (without.status < 300) known.set(url, 'refuses');
      if (without.status < 300 || isNamed) return without;
      await without.read();
      return again(answer, bytes);
    },
  };
}

/** The body's JSON with usage asked; null: the caller said whether to ask. */
function withUsage(body: Json, json: string): string | null {
  const given = body['stream_options'];
  const options = asObject(given);
  if (typeof options?.['include_usage'] === 'boolean') return null;
  if (Object.hasOwn(body, 'stream_options')) {
    return JSON.stringify({ ...body, stream_options: { ...options, include_usage: true } });
  }
  // Not written anew: a request can have megabytes.
  return `${json.slice(0, -1)},"stream_options":{"include_usage":true}}`;
}

/** An answer whose body was read. */
function again(answer: ModelAnswer, bytes: Buffer): ModelAnswer {
  return modelAnswer(answer, Readable.from([bytes]));
}

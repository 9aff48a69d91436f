import type { ModelCheck } from '../../contracts/model-check.js';
import { answerIn, withoutThoughts } from '../../core/answers/completion.js';
import { describeEmpty, emptyReason, isCut } from '../../core/answers/ending.js';
import { asObject } from '../../util/json.js';
import { withTimeout } from '../../clients/net/bounded.js';
import { cutErrorText, field, parseObject } from '../../clients/net/untrusted.js';
import { askProvider } from './ask-provider.js';
import { unknownPrice } from './call-bound.js';
import { costOf, noCost, sumOfCosts, unknownCost, type CallCost } from './cost.js';
import { ProviderError, providerError, wasNotSent } from './answers/provider-answer.js';
import type { ModelClient } from './providers.js';
import { foldStream, StreamedError } from './answers/read-answer.js';
import { refusedCall } from './refusals.js';

type Json = Record<string, unknown>;
type Check = ModelCheck['checks'][number];

/** The most tokens of each answer. */
const maxTokens = 256;
const callTimeoutMs = 60_000;

const user = (content: string) => ({ role: 'user', content });
const plain = [user('Reply with the word ok.')];
const inJson = [user('Reply with the JSON object {"ok": true}.')];
const schema = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
  additionalProperties: false,
};
const tool = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** An answer in the form that the model took, or why there is none. */
type Tried =
  | { ok: true; left: string[]; completion: Json | null; contentType: string | null; seconds: number }
  | { ok: false; why: string };

/**
 * Asks a model for an answer and then, at once, for each part of a request that jobs and callers
 * use: seven small calls, and one more for each refusal that is a lesson.
 */
export async function checkModel(
  client: ModelClient,
  { provider, model }: { provider: string; model: string },
  signal: AbortSignal,
): Promise<ModelCheck> {
  const costs: CallCost[] = [];
  const ask = async (fields: Json): Promise<Tried> => {
    const body = { model, messages: plain, max_tokens: maxTokens, ...fields };
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1_000;
    const note = (status: number | null, cost: CallCost, code: string | null = null) => {
      costs.push(cost);
      client.observer.modelCall({ provider, model, purpose: 'check', status, code, seconds: seconds(), ...cost });
    };
    try {
      return await withTimeout(callTimeoutMs, signal, async (bounded) => {
        const { status, opened, left, contentType } = await askProvider(client, { provider, body }, bounded);
        if (opened.kind === 'refused') {
          const { message, codes } = refusedCall(opened.status, opened.text);
          note(opened.status, opened.billed ? costOf(provider, model, opened.billed) : noCost, codes[0]);
          return { ok: false, why: `${opened.status}: ${cutErrorText(message, 512)}` };
        }
        const completion = opened.kind === 'whole' ? opened.completion : await foldStream(opened.bytes);
        note(status, completion ? costOf(provider, model, completion) : unknownCost);
        if (!answerIn(completion)) return { ok: false, why: `${status} with no chat completion in JSON` };
        return { ok: true, left, completion, contentType, seconds: seconds() };
      });
    } catch (error) {
      signal.throwIfAborted();
      const fault = error instanceof StreamedError ? error : providerError(provider, error);
      if (!(fault instanceof ProviderError || fault instanceof StreamedError)) throw fault;
      const isOurs = fault instanceof ProviderError;
      note(null, isOurs && wasNotSent(fault) ? noCost : unknownCost, isOurs ? fault.code : null);
      return { ok: false, why: cutErrorText(fault.message, 512) };
    }
  };
  const answer = await ask({});
  const known = () => client.lessonsOf(provider, model).refused;
  const limitName = known().has('max_tokens') ? 'max_completion_tokens' : 'max_tokens';
  // The provider `local` answers what it is shown, and nothing else.
  const isLanguageModel = provider !== 'local';
  const first = answerCheck(answer, isLanguageModel);
  const checks = [first];
  if (answer.ok && first.takes && isLanguageModel) {
    const [system, stream, tools, jsonSchema, jsonObject, temperature] = await Promise.all([
      ask({ messages: [{ role: 'system', content: 'Be brief.' }, ...plain] }),
      ask({ stream: true }),
      ask({ messages: [user('Look up the weather in Rome.')], tools: [{ type: 'function', function: tool }] }),
      ask({ messages: inJson, response_format: { type: 'json_schema', json_schema: { name: 'ok', schema } } }),
      ask({ messages: inJson, response_format: { type: 'json_object' } }),
      ask({ temperature: 0 }),
    ]);
    const isRole = !known().has('system');
    checks.push(
      limitCheck(answer.completion, limitName),
      part(
        'system',
        system,
        isRole,
        isRole ? '' : 'sent before the words of the user',
        'Prompts with a system message work; nothing to do.',
      ),
      streamCheck(stream),
      usageCheck(stream, known().has('stream_options')),
      toolsCheck(tools),
      jsonCheck('json_schema', jsonSchema),
      jsonCheck('json_object', jsonObject, known().has('json_object')),
      part(
        'temperature_0',
        temperature,
        !isLeft(temperature, 'temperature'),
        '',
        'Its own temperature holds: samples differ, and rewards are noisier. Leave temperature out.',
      ),
    );
  }
  if (first.takes) checks.push(priceCheck(provider, model));
  return { checks, seconds: answer.ok ? answer.seconds : null, cost_usd: sumOfCosts(costs).costUsd };
}

function part(name: Check['part'], tried: Tried, takes: boolean, detail: string, remedy: string | null): Check {
  if (!tried.ok) return { part: name, takes: false, detail: tried.why, remedy };
  return {
    part: name,
    takes,
    detail: detail === '' && !takes ? 'refused; sent without' : detail,
    remedy: takes ? null : remedy,
  };
}

function answerCheck(answer: Tried, mayNotBeEmpty: boolean): Check {
  if (!answer.ok) {
    const remedy = 'Check the name of the model, the key and the address of its provider.';
    return { part: 'answer', takes: false, detail: answer.why, remedy };
  }
  const said = withoutThoughts(answerIn(answer.completion)!);
  const took = `in ${answer.seconds.toFixed(1)} s`;
  const reason = emptyReason(said);
  if (reason === null || !mayNotBeEmpty) return { part: 'answer', takes: true, detail: took, remedy: null };
  // A model that reasons may need more tokens than this check allows.
  if (reason === 'length') {
    const remedy = 'It thinks first: give it a max_tokens of some thousands.';
    return { part: 'answer', takes: true, detail: `${took}, but no text within ${maxTokens} tokens`, remedy };
  }
  const remedy = 'Such answers earn nothing: take another model, or change how this one is served.';
  return { part: 'answer', takes: false, detail: `it ${describeEmpty(reason, said, null)}`, remedy };
}

function limitCheck(completion: Json | null, name: string): Check {
  const tokens = field(field(completion, 'usage'), 'completion_tokens');
  const isOver = typeof tokens === 'number' && tokens > maxTokens;
  const remedy = 'Set the limit where the model is served: max_tokens and max_cost_usd do not bound its answers.';
  return {
    part: 'max_tokens',
    takes: !isOver,
    detail: isOver ? `${tokens} tokens where ${maxTokens} were allowed` : `as ${name}`,
    remedy: isOver ? remedy : null,
  };
}

function streamCheck(stream: Tried): Check {
  const isStream = stream.ok && /event-stream/i.test(stream.contentType ?? '');
  const remedy = 'Callers who stream get the whole answer in one piece.';
  return part('stream', stream, isStream, isStream ? '' : 'answered whole', remedy);
}

function usageCheck(stream: Tried, isRefused: boolean): Check {
  const hasUsage = stream.ok && asObject(stream.completion?.['usage']) !== null;
  const detail = hasUsage ? (isRefused ? 'sent unasked' : '') : 'no usage came';
  return part('stream_usage', stream, hasUsage, detail, 'The cost of streamed calls is unknown.');
}

function toolsCheck(tools: Tried): Check {
  const calls = tools.ok ? answerIn(tools.completion)?.message['tool_calls'] : null;
  const detail = Array.isArray(calls) && calls.length > 0 ? '' : 'accepted; it called none';
  const remedy = 'Use a model with tools, or serve this one with a parser of tool calls (vLLM, llama.cpp: --jinja).';
  return part('tools', tools, true, detail, remedy);
}

function jsonCheck(name: 'json_schema' | 'json_object', tried: Tried, isOpen = false): Check {
  const remedy = 'Say in the prompt which JSON the answer is; answers are read from any text.';
  if (!tried.ok || tried.left.length > 0) return part(name, tried, false, '', remedy);
  const { text = '', finishReason = null } = answerIn(tried.completion) ?? {};
  const hasEnded = !isCut(finishReason);
  const isJson = parseObject(text) !== null;
  if (!isJson && hasEnded) return part(name, tried, false, 'accepted, but the answer is not JSON', remedy);
  const cut = !isJson ? `accepted; the answer was cut at ${maxTokens} tokens` : '';
  return part(name, tried, true, isOpen ? 'as an open json_schema' : cut, null);
}

function priceCheck(provider: string, model: string): Check {
  const problem = unknownPrice({ provider, model });
  const remedy = 'max_cost_usd and quotas of spend cannot bound it; bound jobs by rollouts.';
  return {
    part: 'price',
    takes: problem === null,
    detail: problem === null ? 'known' : 'unknown',
    remedy: problem && remedy,
  };
}

function isLeft(tried: Tried, name: string): boolean {
  return tried.ok && tried.left.includes(name);
}

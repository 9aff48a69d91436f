/** Why a model's answer ended, in the names of all providers, and why there may be no answer. */

/** In the order of reports. `nothing`: the model gave no reason. */
export const emptyReasons = ['length', 'content_filter', 'refusal', 'thoughts', 'nothing'] as const;
export type EmptyReason = (typeof emptyReasons)[number];

export interface EndedAnswer {
  text: string;
  /** null: none. */
  thoughts: string | null;
  /** As the model reported it; null if it did not. */
  finishReason: string | null;
  /** The words of a refusal beside the text; null: none. */
  refusal: string | null;
}

const cutNames = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length', 'token_limit']);
const filterNames = new Set([
  'content_filter',
  'content_filtered',
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
  'image_safety',
  'language',
  'sensitive',
  'guardrail_intervened',
  'moderation',
]);

/** Whether the answer stopped at the limit of its tokens. */
export function isCut(finishReason: string | null): boolean {
  return finishReason !== null && cutNames.has(finishReason.toLowerCase());
}

export function isFiltered(finishReason: string | null): boolean {
  return finishReason !== null && filterNames.has(finishReason.toLowerCase());
}

/** Null: there is an answer. */
export function emptyReason({ text, thoughts, finishReason, refusal }: EndedAnswer): EmptyReason | null {
  if (text.trim() !== '') return null;
  if (refusal !== null || finishReason?.toLowerCase() === 'refusal') return 'refusal';
  if (isFiltered(finishReason)) return 'content_filter';
  if (isCut(finishReason)) return 'length';
  return thoughts !== null && thoughts.trim() !== '' ? 'thoughts' : 'nothing';
}

const maxShown = 500;

/** What ended the answer, as a predicate of the model; `limit`: tokens, if known. */
export function describeEmpty(reason: EmptyReason, answer: EndedAnswer, limit: number | null): string {
  const { thoughts, refusal, finishReason } = answer;
  switch (reason) {
    case 'length': {
      const spent = thoughts !== null ? ' among its thoughts' : '';
      return `stopped${spent} at its limit of ${limit === null ? 'tokens' : `${limit} tokens`}; raise max_tokens`;
    }
    case 'content_filter':
      return "was stopped by the provider's content filter";
    case 'refusal':
      return refusal === null
        ? 'refused'
        : `refused: ${refusal.slice(0, maxShown).toWellFormed().trim().replace(/\.$/, '')}`;
    case 'thoughts':
      return 'gave its thoughts only, and no answer behind them';
    case 'nothing':
      return `gave an empty answer (finish_reason ${finishReason === null ? 'is missing' : show(finishReason)})`;
  }
}

/** The limit of an answer's tokens that a policy sets; null: none. */
export function tokenLimit(params: Readonly<Record<string, unknown>>): number | null {
  const limit = params['max_completion_tokens'] ?? params['max_tokens'];
  return typeof limit === 'number' ? limit : null;
}

function show(finishReason: string): string {
  return JSON.stringify(finishReason.slice(0, 50).toWellFormed());
}

import { LRUCache } from 'lru-cache';
import { lacksOpeningTag } from '../../../core/answers/thoughts.js';

/** Fields that can be left out. */
export const optional = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'n',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
] as const;

/**
 * What a model refuses: a field, a role, a type of `response_format`, a value (`temperature=0`), or
 * two fields together (`temperature+top_p`).
 */
export type Lesson =
  | (typeof optional)[number]
  | 'temperature=0'
  | 'temperature+top_p'
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'max_tokens+max_completion_tokens'
  | 'system'
  | 'developer'
  | 'json_schema'
  | 'json_object'
  | 'response_format'
  | 'stream'
  | 'stream_options';

/** What is known of a model at an address, from its answers. */
export interface Lessons {
  refused: ReadonlySet<Lesson>;
  /** Fields with which it has answered. */
  taken: ReadonlySet<string>;
  /** Whether thoughts may lead its texts without an opening tag; true before its first text. */
  mayLackOpeningTag: boolean;
  /** Records what an accepted request had to leave out, and the fields that it had. */
  keep(refused: readonly Lesson[], taken: readonly string[]): void;
  /** Records how the text of an answer marks its thoughts. */
  keepText(text: string): void;
}

/** Holds for the account, not for the model: OpenAI streams some models to verified ones only. */
const ofAccount: ReadonlySet<Lesson> = new Set(['stream']);
/** One of two names: a refusal of one forgets that of the other. */
export const otherName: ReadonlyMap<Lesson, Lesson> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
]);
const mostModels = 2_000;

interface Known {
  refused: Set<Lesson>;
  taken: Set<string>;
  /** Whether a text had thoughts without one, as by some templates; null: no text yet. */
  lacksOpeningTag: boolean | null;
}

/** Remembers, in this process, what models refuse and how they answer, by address and model. */
export function createLessons(): (address: string, model: string) => Lessons {
  const known = new LRUCache<string, Known>({ max: mostModels });
  return (address, model) => {
    const key = `${address}\n${model}`;
    const read = (): Known => known.get(key) ?? { refused: new Set(), taken: new Set(), lacksOpeningTag: null };
    const { refused, taken, lacksOpeningTag: lacks } = read();
    return {
      refused,
      taken,
      mayLackOpeningTag: lacks ?? true,
      keep(newlyRefused, newlyTaken) {
        const now = read();
        for (const lesson of newlyRefused) if (!ofAccount.has(lesson)) learn(now.refused, lesson);
        for (const name of newlyTaken) now.taken.add(name);
        if (now.refused.size + now.taken.size > 0) known.set(key, now);
      },
      keepText(text) {
        const now = read();
        const shown = lacksOpeningTag(text);
        if (shown !== null) known.set(key, { ...now, lacksOpeningTag: shown || now.lacksOpeningTag === true });
      },
    };
  };
}

/** Adds a lesson, which may end another. */
export function learn(lessons: Set<Lesson>, lesson: Lesson): void {
  const other = otherName.get(lesson);
  if (other) lessons.delete(other);
  lessons.add(lesson);
}

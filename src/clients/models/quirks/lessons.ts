import { LRUCache } from 'lru-cache';

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
  /** Called with what an accepted request left out, and with what it had. */
  keep(refused: readonly Lesson[], taken: readonly string[]): void;
}

/** Holds for the account, not for the model: OpenAI streams some models to verified ones only. */
const ofAccount: ReadonlySet<Lesson> = new Set(['stream']);
/** One of two names: a refusal of one forgets that of the other. */
export const otherName: ReadonlyMap<Lesson, Lesson> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
]);
const mostModels = 2_000;

/** Remembers, in this process, what models refuse, by address and model. */
export function createLessons(): (address: string, model: string) => Lessons {
  const known = new LRUCache<string, { refused: Set<Lesson>; taken: Set<string> }>({ max: mostModels });
  return (address, model) => {
    const key = `${address}\n${model}`;
    const read = () => known.get(key) ?? { refused: new Set<Lesson>(), taken: new Set<string>() };
    return {
      ...read(),
      keep(newlyRefused, newlyTaken) {
        const { refused, taken } = read();
        for (const lesson of newlyRefused) if (!ofAccount.has(lesson)) learn(refused, lesson);
        for (const name of newlyTaken) taken.add(name);
        if (refused.size + taken.size > 0) known.set(key, { refused, taken });
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

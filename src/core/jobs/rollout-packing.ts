/** Groups rollout requests and answers: thousands take a few kilobytes of workflow history. */
import type { RolloutAnswer, RolloutRequest, Stage } from '../search/protocol.js';

/** Requests of one candidate with consecutive ordinals from `from`. */
export interface RequestGroup {
  from: number;
  candidate: number;
  stage: Stage;
  generation: number;
  seeds: number[];
}

/**
 * Answers with consecutive ordinals. `infrastructure`: the ordinals of infrastructure failures;
 * `unverified`: those whose output the judge did not score (absent: none); `costs` (null: unknown)
 * is absent if no cost is known.
 */
export interface PackedAnswers {
  from: number;
  rewards: (number | null)[];
  infrastructure: number[];
  unverified?: number[];
  costs?: (number | null)[];
}

/** Ordinals must be consecutive. */
export function packRequests(requests: RolloutRequest[]): RequestGroup[] {
  const groups: RequestGroup[] = [];
  for (const { ordinal, candidate, seed, stage, generation } of requests) {
    const last = groups.at(-1);
    if (last && last.candidate === candidate && last.stage === stage && last.from + last.seeds.length === ordinal) {
      last.seeds.push(seed);
    } else {
      groups.push({ from: ordinal, candidate, stage, generation, seeds: [seed] });
    }
  }
  return groups;
}

export function unpackRequests(groups: RequestGroup[]): RolloutRequest[] {
  return groups.flatMap(({ from, candidate, stage, generation, seeds }) =>
    seeds.map((seed, i) => ({ ordinal: from + i, candidate, seed, stage, generation })),
  );
}

/** Ordinals must be consecutive and ascending. */
export function packAnswers(answers: RolloutAnswer[]): PackedAnswers {
  const costs = answers.map(({ cost }) => cost ?? null);
  const unverified = answers.filter((answer) => answer.unverified).map((answer) => answer.ordinal);
  return {
    from: answers[0]?.ordinal ?? 0,
    rewards: answers.map((answer) => answer.reward),
    infrastructure: answers.filter((answer) => answer.infrastructure).map((answer) => answer.ordinal),
    ...(unverified.length > 0 && { unverified }),
    ...(costs.some((cost) => cost !== null) && { costs }),
  };
}

export function unpackAnswers(packed: PackedAnswers): RolloutAnswer[] {
  const infrastructure = new Set(packed.infrastructure);
  const unverified = new Set(packed.unverified);
  return packed.rewards.map((reward, i) => {
    const cost = packed.costs?.[i] ?? null;
    return {
      ordinal: packed.from + i,
      reward,
      infrastructure: infrastructure.has(packed.from + i),
      ...(unverified.has(packed.from + i) && { unverified: true as const }),
      ...(cost !== null && { cost }),
    };
  });
}

/** Rollout requests and answers as they cross a workflow's history: grouped, so that thousands stay a few kilobytes. */
import type { RolloutAnswer, RolloutRequest, Stage } from '../search/protocol.js';

/** Requests for one candidate with consecutive ordinals from `from`. */
export interface RequestGroup {
  from: number;
  candidate: number;
  stage: Stage;
  generation: number;
  seeds: number[];
}

/**
 * Answers for consecutive ordinals from `from`; `infrastructure` lists the ordinals of which that was the fault. `costs` (null: not
 * known) are absent where none is known.
 */
export interface PackedAnswers {
  from: number;
  rewards: (number | null)[];
  infrastructure: number[];
  costs?: (number | null)[];
}

/** Groups requests; the order is kept and ordinals must be consecutive. */
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

/** The reverse of `packRequests`. */
export function unpackRequests(groups: RequestGroup[]): RolloutRequest[] {
  return groups.flatMap(({ from, candidate, stage, generation, seeds }) =>
    seeds.map((seed, i) => ({ ordinal: from + i, candidate, seed, stage, generation })),
  );
}

/** Packs answers whose ordinals are consecutive and ascending. */
export function packAnswers(answers: RolloutAnswer[]): PackedAnswers {
  const costs = answers.map(({ cost }) => cost ?? null);
  return {
    from: answers[0]?.ordinal ?? 0,
    rewards: answers.map((answer) => answer.reward),
    infrastructure: answers.filter((answer) => answer.infrastructure).map((answer) => answer.ordinal),
    ...(costs.some((cost) => cost !== null) && { costs }),
  };
}

/** The reverse of `packAnswers`. */
export function unpackAnswers(packed: PackedAnswers): RolloutAnswer[] {
  const infrastructure = new Set(packed.infrastructure);
  return packed.rewards.map((reward, i) => {
    const cost = packed.costs?.[i] ?? null;
    return {
      ordinal: packed.from + i,
      reward,
      infrastructure: infrastructure.has(packed.from + i),
      ...(cost !== null && { cost }),
    };
  });
}

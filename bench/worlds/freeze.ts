/** The worlds, frozen: a hash of what they do, so that results from before and after a change are never compared unawares. */
import { createHash } from 'node:crypto';
import { readPrompt, writePrompt } from './statements.js';
import { openWorld, worldKinds, type Texts, type World } from './world.js';

import { instances } from './topics.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Worlds to tune an optimizer on. */
export const devSeeds = range(1, 21);
/** Worlds to compare optimizers on; never run while one is tuned. */
export const testSeeds = range(1001, 1021);

/** What `worldsHash` gives; a change of it is a change of the benchmark. */
export const frozenHash = 'c653f0dba042633e73e2afd3af825f2e24b045ce1d94679d72175d4a16ac8b72';

/** A sha256 over what the worlds of all kinds and both lists of seeds answer to prompts and reflections that probe them. */
export function worldsHash(seeds: readonly number[] = [...devSeeds, ...testSeeds]): string {
  const hash = createHash('sha256');
  for (const kind of worldKinds) {
    for (const seed of seeds) {
      for (const shuffledFeedback of [false, true]) {
        hash.update(JSON.stringify(behaviour(openWorld(kind, seed, { shuffledFeedback }))));
      }
    }
  }
  return hash.digest('hex');
}

function behaviour(world: World): unknown {
  const { kind, components, baseline, perfect } = world;
  const half = halfOf(perfect);
  const scores = [baseline, half, perfect].map((texts) => [
    range(0, instances).map((seed) => world.score(texts, seed, seed % 3)),
    world.trueReward(texts),
  ]);
  const answers = [baseline, half].flatMap((texts) =>
    components.flatMap((component) =>
      range(0, 20).map((round) => {
        const shown = range(3 * round, 3 * round + 3).map((seed) => world.score(texts, seed, 0).feedback);
        return world.reflect(`\`\`\`\n${texts[component]}\n\`\`\`\n${shown.join('\n')}`);
      }),
    ),
  );
  return { kind, components, baseline, perfect, scores, answers };
}

/** Every other statement of a prompt. */
function halfOf(perfect: Texts): Texts {
  return Object.fromEntries(
    Object.entries(perfect).map(([component, text]) => {
      const { other, stated } = readPrompt(text);
      return [component, writePrompt(other, new Map([...stated].filter((_, at) => at % 2 === 0)))];
    }),
  );
}

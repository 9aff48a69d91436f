import { readPrompt, writePrompt } from '../worlds/statements.js';
import { noisyKinds, type Texts, type World } from '../worlds/world.js';

/**
 * The true reward of the perfect prompt without the statements that no train seed needs: the most
 * that a search can learn. Null with noise: its judgements do not show the need.
 */
export function ceilingOf(world: World, trainSeeds: readonly number[]): number | null {
  if (noisyKinds.has(world.kind)) return null;
  const rewardOf = (texts: Texts) => trainSeeds.reduce((total, seed) => total + world.score(texts, seed, 0).reward, 0);
  const most = rewardOf(world.perfect);
  const learnable = Object.entries(world.perfect).map(([component, text]) => {
    const { other, stated } = readPrompt(text);
    const without = (key: string) => {
      const left = new Map([...stated].filter(([own]) => own !== key));
      return { ...world.perfect, [component]: writePrompt(other, left) };
    };
    const needed = [...stated].filter(([key]) => rewardOf(without(key)) < most);
    return [component, writePrompt(other, new Map(needed))] as const;
  });
  return world.trueReward(Object.fromEntries(learnable));
}

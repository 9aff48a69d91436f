import { uniformInt, type Rng } from '../math/random.js';

/** Tips for the proposer, so that instructions differ (as in MIPROv2). */
const tips = [
  null,
  'Be creative: find a way of putting it that the present instruction does not have.',
  'Be simple and clear: say only what is needed, in few words.',
  'Be precise: name every rule and every detail of the form that the good answers follow.',
  'Say what is at stake where an answer is wrong.',
  'Say who the assistant is: somebody whose work it is to do this very task well.',
] as const;

/** A random tip. By candidate number, tips would always meet the same components and forms. */
export function tipFor(rng: Rng): string | null {
  return tips[uniformInt(rng, tips.length)[0]]!;
}

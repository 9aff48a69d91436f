/** Combines the verifications of several scorers. */
import { maxFeedback, show } from './text.js';
import { weightedMean, type CriterionScore, type Verification } from './verification.js';
import { cutWithin } from '../../util/text.js';

/** A part's verification; `name`: its type, and its number from the second of that type. */
export interface ScoredPart {
  name: string;
  weight: number;
  verification: Verification;
}

/** Distinct names of parts: `exact`, `rubric`, `rubric_2`. */
export function partNames(modes: readonly string[]): string[] {
  return modes.map((mode, at) => {
    const earlier = modes.slice(0, at).filter((other) => other === mode).length;
    return earlier === 0 ? mode : `${mode}_${earlier + 1}`;
  });
}

/** The contrary of a verification: what it calls right is wrong. */
export function negated({ reward, feedback }: Verification): Verification {
  const said = feedback.replace(/^(?:Right: |Wrong\.\s*)/, '');
  const judged = reward < 0.5 ? 'Right: what is not wanted is not so.' : 'Wrong. The contrary of this is wanted:';
  return { reward: 1 - reward, feedback: cutWithin(`${judged}\n${said}`, maxFeedback) };
}

/** The weighted mean of at least one part, with the feedback of the worst first. */
export function combine(parts: readonly ScoredPart[]): Verification {
  const criteria = parts.map(({ name, weight, verification }): CriterionScore => {
    return { name, weight, score: verification.reward, reason: verification.feedback };
  });
  const share = Math.floor(maxFeedback / parts.length) - 1;
  const worstFirst = [...criteria].sort((left, right) => left.score - right.score);
  const feedback = worstFirst
    .map(({ name, score, weight, reason }) =>
      cutWithin(`## ${name}: ${Math.round(score * 1_000) / 1_000} of 1 (weight ${weight})\n${reason}`, share),
    )
    .join('\n');
  const details = parts.flatMap(({ name, verification }) =>
    verification.details ? [[name, verification.details] as const] : [],
  );
  return {
    ...{ reward: weightedMean(criteria), feedback: show(feedback, maxFeedback), criteria },
    ...(details.length > 0 && { details: Object.fromEntries(details) }),
  };
}

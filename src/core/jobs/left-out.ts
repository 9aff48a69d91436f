import type { PolicySpec } from './policy.js';

/** The warning about parameters that a model refuses and so does not get; null: none. */
export function leftOutWarning(
  { provider, model }: Pick<PolicySpec, 'provider' | 'model'>,
  left: readonly string[],
): string | null {
  if (left.length === 0) return null;
  const fields = [...new Set(left)].toSorted().join(', ');
  const format = left.includes('response_format') ? ' Say in the prompt which form the answer has.' : '';
  return `The model "${model}" of "${provider}" refuses ${fields}: its calls go without, so its default holds. Remove it from the policy.${format}`;
}

/** Figures in sentences. */

export const rewardText = (reward: number): string => reward.toFixed(2).replace(/^-(?=0\.00$)/, '');

export const dollarText = (usd: number): string => `$${usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(1)}`;

/** To two significant digits, upwards. */
export function roundUp(value: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** Words in a sentence, at most `most` of them. */
export function listed(words: readonly string[], most: number): string {
  const more = words.length - most;
  return more > 0 ? `${words.slice(0, most).join(', ')} and ${more} more` : words.join(', ');
}

/**
 * Densities over categorical dimensions (Aitchison and Aitken's kernel, as in Watanabe, arXiv 2304.11127): a mixture of a kernel
 * for each trial and of a uniform prior of weight 1. A kernel keeps its trial's choice in each dimension but for 1 of `total` + 1 times, when
 * it draws from all choices: so it is as wide whether there are 4 or 20, and narrower the more trials there are.
 *
 * Densities are multiples of the uniform one, so that many dimensions do not take them to 0; their mean over the space is 1.
 */

/** How many choices each dimension has. Spaces may grow between calls: earlier trials stay valid. */
export type Space = readonly number[];

/** A trial as the centre of a kernel. */
export interface Kernel {
  choices: readonly number[];
  weight: number;
}

/** A mixture of kernels and a uniform prior of weight 1; `total` is the sum of all weights. */
export interface Parzen {
  space: Space;
  kernels: readonly Kernel[];
  total: number;
}

/** One of the choices below `count`, or a fraction from 0 to below 1. */
export interface Draws {
  below(count: number): number;
  fraction(): number;
}

/** The mixture of a kernel for each of some trials. */
export function parzen(space: Space, kernels: readonly Kernel[]): Parzen {
  return { space, kernels, total: kernels.reduce((sum, { weight }) => sum + weight, 1) };
}

/** The density of a combination whose dimensions all come from the same kernel, as a multiple of the uniform one. */
export function together(mixture: Parzen, choices: readonly number[]): number {
  const products = mixture.kernels.map(({ choices: centre, weight }) =>
    choices.reduce((product, choice, at) => product * factor(mixture, at, choice === centre[at]), weight),
  );
  return products.reduce((sum, product) => sum + product, 1) / mixture.total;
}

/** The same where each dimension comes from a kernel of its own: the product of the marginal densities. */
export function alone(mixture: Parzen, choices: readonly number[]): number {
  const marginal = (choice: number, at: number) =>
    mixture.kernels.reduce(
      (sum, { choices: centre, weight }) => sum + weight * factor(mixture, at, choice === centre[at]),
      1,
    ) / mixture.total;
  return choices.reduce((product, choice, at) => product * marginal(choice, at), 1);
}

/** A kernel keeps its trial's choice but for 1 of `total` + 1 times, when it draws from all; against drawing from all. */
function factor({ space, total }: Parzen, at: number, isSame: boolean): number {
  return (isSame ? 1 + space[at]! * total : 1) / (total + 1);
}

/** A combination from the density of `together`, or of `alone`. */
export function drawFrom(draws: Draws, { space, kernels, total }: Parzen, isAlone: boolean): number[] {
  const kernel = () => {
    let left = draws.fraction() * total;
    return kernels.find(({ weight }) => (left -= weight) < 0);
  };
  const shared = kernel();
  return space.map((count, at) => {
    const centre = isAlone ? kernel() : shared;
    return centre && draws.fraction() * (total + 1) < total ? centre.choices[at]! : draws.below(count);
  });
}

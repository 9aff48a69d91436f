/**
 * Densities over categorical dimensions (Aitchison and Aitken's kernel, as in Watanabe, arXiv
 * 2304.11127): a mixture of one kernel for each trial and a uniform prior of weight 1. In each
 * dimension a kernel keeps its trial's choice with probability `total` / (`total` + 1), else it
 * draws from all choices, so its width does not depend on the number of choices.
 * Densities are multiples of the uniform one, so that many dimensions do not underflow.
 */

/** The number of choices of each dimension; if it grows, earlier trials stay valid. */
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

/** Random draws: a choice below `count`, or a fraction in [0, 1). */
export interface Draws {
  below(count: number): number;
  fraction(): number;
}

export function parzen(space: Space, kernels: readonly Kernel[]): Parzen {
  return { space, kernels, total: kernels.reduce((sum, { weight }) => sum + weight, 1) };
}

/** The density of a combination if one kernel gives all dimensions. */
export function together(mixture: Parzen, choices: readonly number[]): number {
  const products = mixture.kernels.map(({ choices: centre, weight }) =>
    choices.reduce((product, choice, at) => product * factor(mixture, at, choice === centre[at]), weight),
  );
  return products.reduce((sum, product) => sum + product, 1) / mixture.total;
}

/** The density if each dimension has a kernel of its own: the product of the marginal densities. */
export function alone(mixture: Parzen, choices: readonly number[]): number {
  const marginal = (choice: number, at: number) =>
    mixture.kernels.reduce(
      (sum, { choices: centre, weight }) => sum + weight * factor(mixture, at, choice === centre[at]),
      1,
    ) / mixture.total;
  return choices.reduce((product, choice, at) => product * marginal(choice, at), 1);
}

/** The density of a choice under a kernel, as a multiple of the uniform density. */
function factor({ space, total }: Parzen, at: number, isSame: boolean): number {
  return (isSame ? 1 + space[at]! * total : 1) / (total + 1);
}

/** A random combination by the density of `alone` or of `together`. */
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

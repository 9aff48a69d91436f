/** Retries at once, and the most that a quiet time saves up. */
const burst = 10;
const maxDeployments = 10_000;

/** Keeps retries a share of the requests: without a bound they multiply the load of an outage. */
export class RetryBudget {
  /** By deployment, most recently used last. */
  private readonly left = new Map<string, number>();

  /** Counts a request, and returns the budget for its retries. */
  of(deploymentId: string, share: number): { take(): boolean } {
    this.set(deploymentId, Math.min(burst, (this.left.get(deploymentId) ?? burst) + share));
    return {
      take: () => {
        const left = this.left.get(deploymentId) ?? burst;
        if (left < 1) return false;
        this.set(deploymentId, left - 1);
        return true;
      },
    };
  }

  private set(deploymentId: string, left: number): void {
    this.left.delete(deploymentId);
    this.left.set(deploymentId, left);
    if (this.left.size > maxDeployments) this.left.delete(this.left.keys().next().value!);
  }
}

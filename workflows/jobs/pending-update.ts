import type { SearchUpdate } from '../../src/core/algorithms/progress.js';

/** The last search update, until an activity records it together with its own work. */
export class PendingUpdate {
  private update: SearchUpdate | null = null;

  set(update: SearchUpdate): void {
    this.update = update;
  }

  /** Runs an activity that records the update first, as `input` of its arguments. */
  async recordWith<T>(activity: (input: { update?: SearchUpdate }) => Promise<T>): Promise<T> {
    const { update } = this;
    const result = await activity(update ? { update } : {});
    if (this.update === update) this.update = null;
    return result;
  }
}

/** A flag that one caller waits for; waiting clears it. */
export class Latch {
  private isSet = false;
  private resolve: () => void = () => undefined;

  set(): void {
    this.isSet = true;
    this.resolve();
  }

  clear(): void {
    this.isSet = false;
  }

  /** Resolves when the latch is set (true), or after `ms` (false). */
  async wait(ms: number): Promise<boolean> {
    if (!this.isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.resolve = () => undefined;
    }
    const { isSet } = this;
    this.isSet = false;
    return isSet;
  }
}

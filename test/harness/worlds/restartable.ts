import type { Tree } from '../../support/servers/tree.js';

/** A part of the service that can be started again after its end, with the same settings. */
export class Restartable {
  private readonly run: () => Promise<Tree>;
  private current: Tree | undefined;

  constructor(run: () => Promise<Tree>) {
    this.run = run;
  }

  /** The last started tree. */
  get tree(): Tree {
    if (!this.current) throw new Error('it was never started');
    return this.current;
  }

  get pid(): number {
    return this.tree.process.pid!;
  }

  get isUp(): boolean {
    return this.current?.hasEnded() === false;
  }

  async start(): Promise<void> {
    this.current = await this.run();
  }

  /** kill -9 of the whole tree, if it is up. */
  async kill(): Promise<void> {
    await this.current?.kill();
  }

  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null> {
    return this.tree.terminate();
  }

  /** Ctrl-C, if it is up. */
  async stop(): Promise<void> {
    if (this.isUp) await this.tree.stop();
  }
}

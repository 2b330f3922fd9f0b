/** Something of an instance that was set on its object, and is to be told to the crowd. */
interface Change {
  isQueued: boolean;
  apply(): void;
}

/** Changes that are carried over to a crowd once a frame, however often they were made. */
export class LookQueue {
  private readonly changes: Change[] = [];

  add(change: Change): void {
    if (change.isQueued) return;
    change.isQueued = true;
    this.changes.push(change);
  }

  flush(): void {
    const { changes } = this;
    if (changes.length === 0) return;
    for (const change of changes) {
      change.isQueued = false;
      change.apply();
    }
    changes.length = 0;
  }
}

/** Whom a value tells that it is read or set. */
export interface ValueOwner {
  /** Before a field is read or set: brings it up to what it stands for. */
  read?(field: string): void;
  /** Before a field is set. @throws If it cannot be set to that. */
  change?(field: string, value: unknown): void;
  /** Once a field was set. */
  wrote?(): void;
}

/** A property under which a value keeps its owner; there is none while it is made, and none in clones. */
const OWNER = 'valueOwner';

type Owned = Record<string, unknown> & { [OWNER]?: ValueOwner };

export function own(value: object, owner: ValueOwner | undefined): void {
  Object.defineProperty(value, OWNER, { value: owner });
}

/**
 * Makes accessors of fields that three.js's constructors set, so that all its methods go by them. Called by constructors, the first
 * of which does it: a module that does it as it is loaded stays in every page. Fields that are used in each frame have accessors that
 * are written out: those that go by a name in a variable are slower.
 */
export function observe(prototype: object, names: readonly string[]): void {
  if (Object.hasOwn(prototype, names[0])) return;
  for (const name of names) {
    const kept = `${name}Kept`;
    Object.defineProperty(prototype, name, {
      get(this: Owned) {
        this[OWNER]?.read?.(name);
        return this[kept];
      },
      set(this: Owned, value: unknown) {
        const owner = this[OWNER];
        owner?.read?.(name);
        owner?.change?.(name, value);
        this[kept] = value;
        owner?.wrote?.();
      },
    });
  }
}

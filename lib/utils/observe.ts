/** Whom a value tells that it is read or set. */
export interface ValueOwner {
  /** Before a field is read, or set where there is no `change`: brings it up to what it stands for. */
  read?(field: string): void;
  /** Before a field is set. @throws If it cannot be set to that. */
  change?(field: string, value: unknown): void;
  /** Once a field was set. */
  wrote?(field?: string): void;
}

/** Under which a value keeps its owner, of whom there is none while it is made, and none in clones; and what its fields are. */
const OWNER = 'valueOwner';
const FIELDS = 'valueFields';

type Owned = { [OWNER]?: ValueOwner; [FIELDS]: unknown[] };

export function own(value: object, owner: ValueOwner | undefined): void {
  Object.defineProperty(value, OWNER, { value: owner });
}

/**
 * Makes accessors of fields that three.js's constructors set, so that all its methods go by them. Called by constructors, the first
 * of which does it: a module that does it as it is loaded stays in every page. Fields are kept in an array: that is quicker than
 * properties whose name is in a variable. Clones are what three.js's own class makes.
 *
 * @param read Fields whose owner is told that they are read.
 */
export function observe(prototype: object, names: readonly string[], read: readonly string[] = names): void {
  if (Object.hasOwn(prototype, names[0])) return;
  const { clone, constructor: Plain } = Object.getPrototypeOf(prototype);
  if (clone !== undefined)
    Object.defineProperty(prototype, 'clone', {
      value(recursive?: boolean) {
        return new Plain().copy(this, recursive);
      },
    });
  names.forEach((name, i) => {
    const isRead = read.includes(name);
    Object.defineProperty(prototype, name, {
      get: isRead
        ? function (this: Owned) {
            this[OWNER]?.read?.(name);
            return this[FIELDS][i];
          }
        : function (this: Owned) {
            return this[FIELDS][i];
          },
      set(this: Owned, value: unknown) {
        const owner = this[OWNER];
        if (owner === undefined) {
          this[FIELDS] ??= [];
          this[FIELDS][i] = value;
          return;
        }
        if (owner.change !== undefined) owner.change(name, value);
        else if (isRead) owner.read?.(name);
        this[FIELDS][i] = value;
        owner.wrote?.(name);
      },
    });
  });
}

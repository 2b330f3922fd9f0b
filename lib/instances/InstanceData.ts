/**
 * Something that every instance of a crowd has: where it stands, what it plays, what it looks like. A crowd keeps a list of
 * them, and carries each along when instances are exchanged, copied or given more room.
 */
export interface InstanceData {
  /** Makes room for more instances, or gives room back; those that stay keep what they have. */
  resize?(capacity: number): void;
  /** Exchanges two instances. */
  swap?(i: number, j: number): void;
  /** Gives an instance what instances have to begin with, in place of what it has. */
  reset?(index: number): void;
  /** Gives an instance what another one looks like. */
  copyAt?(from: number, to: number): void;
  /** Takes over what the other's is, of a crowd that has as many instances. */
  copy?(source: object): void;
  /** Frees what was allocated. */
  dispose?(): void;
}

/** What a camera sees of a crowd. */
export interface ViewInfo {
  /** Instances that are drawn for it. */
  visible: number;
  /** The same at each level of detail; one that passes over to the next is counted at both. */
  levels: number[];
  /** Triangles of these, with what is attached to them. */
  triangles: number;
  /** Instances that were posed in its frame, for all cameras together; left out where no pass poses them. */
  posed?: number;
}

import type { MeshStandardMaterial } from 'three';

/** A material of WebGPURenderer may be given nodes, which its plain class does not know. */
interface WithNodes {
  colorNode?: unknown;
}

/**
 * Mud from the feet up, as high as each character's uniform `mud` says: in GLSL for `WebGLRenderer`, in nodes for
 * `WebGPURenderer`.
 */
export async function addMud(material: MeshStandardMaterial, isWebGPU: boolean): Promise<void> {
  if (isWebGPU) await addMudNodes(material);
  else addMudGLSL(material);
}

function addMudGLSL(material: MeshStandardMaterial): void {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec3 vSplash;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nvSplash = position;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 vSplash;')
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
        // Other meshes may be drawn in the same material, which have no such uniform.
        #ifdef instanceUniform_mud
          float edge = 2.2 * instanceUniform_mud - 0.2 + 0.1 * sin( 31.0 * vSplash.x ) * sin( 23.0 * vSplash.z );
          diffuseColor.rgb = mix( diffuseColor.rgb, vec3( 0.09, 0.05, 0.02 ), smoothstep( edge, edge - 0.2, vSplash.y ) );
        #endif`,
      );
  };
}

async function addMudNodes(material: MeshStandardMaterial): Promise<void> {
  const { color, materialColor, mix, positionGeometry, sin, smoothstep, varying } = await import('three/tsl');
  const { instanceUniform } = await import('skinned-instanced-mesh/webgpu');
  const splash = varying(positionGeometry);
  const edge = instanceUniform('mud', 'float')
    .mul(2.2)
    .sub(0.2)
    .add(
      sin(splash.x.mul(31))
        .mul(sin(splash.z.mul(23)))
        .mul(0.1),
    );
  const dry = smoothstep(edge.sub(0.2), edge, splash.y);
  (material as WithNodes).colorNode = mix(color(0.09, 0.05, 0.02), materialColor, dry);
}

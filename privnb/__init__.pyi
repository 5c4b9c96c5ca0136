"""The names of `privnb` that most people need, each with its home. All others are found in the rooms."""

from .attacks.base import Attack as Attack
from .attacks.inference.distance_inference import DistanceInference as DistanceInference
from .attacks.inference.miner_inference import MinerInference as MinerInference
from .attacks.linkage.distance_linkage import DistanceLinkage as DistanceLinkage
from .attacks.linkage.linkage import Linkage as Linkage
from .attacks.linkage.one_to_one import OneToOne as OneToOne
from .attacks.linkage.probabilistic_linkage import ProbabilisticLinkage as ProbabilisticLinkage
from .datasets.dataset import (
    Dataset as Dataset,
    load as load,
    load_studies as load_studies,
)
from .decision.by_policy import decide as decide
from .decision.policies import RiskPolicy as RiskPolicy
from .evaluation.cases import (
    Question as Question,
    evaluate as evaluate,
)
from .evaluation.combinations import combinations as combinations
from .evaluation.disclosure.recovered import Recovered as Recovered
from .evaluation.people import (
    describe as describe,
    groups as groups,
    people_by as people_by,
    uniqueness as uniqueness,
)
from .evaluation.results import join as join
from .evaluation.utility.utilities import (
    AntiUtility as AntiUtility,
    GoodUtility as GoodUtility,
)
from .evaluation.verdict import Scenario as Scenario
from .measures.base import (
    Measure as Measure,
    measure as measure,
)
from .microdata.release import (
    Published as Published,
    Release as Release,
)
from .microdata.schema import (
    Attribute as Attribute,
    Role as Role,
    Schema as Schema,
)
from .privacy_models.anonymity import (
    AlphaKAnonymity as AlphaKAnonymity,
    KAnonymity as KAnonymity,
    PSensitiveKAnonymity as PSensitiveKAnonymity,
)
from .privacy_models.base import (
    PrivacyModel as PrivacyModel,
    achieved as achieved,
)
from .privacy_models.closeness import (
    BasicBetaLikeness as BasicBetaLikeness,
    DeltaDisclosure as DeltaDisclosure,
    EnhancedBetaLikeness as EnhancedBetaLikeness,
    JensenShannonCloseness as JensenShannonCloseness,
    TCloseness as TCloseness,
)
from .privacy_models.diversity import (
    ConfidenceBound as ConfidenceBound,
    DistinctDiversity as DistinctDiversity,
    EntropyDiversity as EntropyDiversity,
    FrequencyDiversity as FrequencyDiversity,
    RecursiveDiversity as RecursiveDiversity,
)
from .privacy_models.presence import (
    DeltaPresence as DeltaPresence,
    KMap as KMap,
)
from .publishing.any_length import sanitize as sanitize
from .sanitizers.base import Sanitizer as Sanitizer
from .sanitizers.errors import SanitizationError as SanitizationError
from .sanitizers.generalization.anatomy import Anatomy as Anatomy
from .sanitizers.generalization.bucketize import Bucketize as Bucketize
from .sanitizers.generalization.full_domain import FullDomain as FullDomain
from .sanitizers.generalization.k_member import KMember as KMember
from .sanitizers.generalization.local_recoding import LocalRecoding as LocalRecoding
from .sanitizers.generalization.local_suppression import LocalSuppression as LocalSuppression
from .sanitizers.generalization.mondrian import Mondrian as Mondrian
from .sanitizers.generalization.rare_categories import RareCategories as RareCategories
from .sanitizers.generalization.suppress import Suppress as Suppress
from .sanitizers.generalization.top_down_specialization import TopDownSpecialization as TopDownSpecialization
from .sanitizers.identity import Identity as Identity
from .sanitizers.masking.data_swapping import DataSwapping as DataSwapping
from .sanitizers.masking.microaggregation import Microaggregation as Microaggregation
from .sanitizers.masking.rank_swapping import RankSwapping as RankSwapping
from .sanitizers.masking.rounding import Rounding as Rounding
from .sanitizers.masking.sampling import Sampling as Sampling
from .sanitizers.masking.top_bottom_coding import TopBottomCoding as TopBottomCoding
from .sanitizers.noise.geometric_noise import GeometricNoise as GeometricNoise
from .sanitizers.noise.laplace_noise import LaplaceNoise as LaplaceNoise
from .sanitizers.noise.masking_noise import MaskingNoise as MaskingNoise
from .sanitizers.noise.pram import Pram as Pram
from .sanitizers.noise.randomized_response import RandomizedResponse as RandomizedResponse

__version__: str
BEGAN: float
ROOMS: tuple[str, ...]

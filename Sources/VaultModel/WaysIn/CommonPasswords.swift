/// The passwords that attackers try first, and the words of which such passwords are made.
///
/// They are the most frequent of Mark Burnett's ten million passwords as counted by zxcvbn (Copyright (c) 2012-2016 Dan
/// Wheeler and Dropbox, Inc., MIT license; https://github.com/dropbox/zxcvbn, data/passwords.txt), without those too
/// short to be useful in guessing, and without those that nobody should have to read here. This file is long because
/// the list is.
enum CommonPasswords {
  /// Calls `body` with each password, in lower case, until it returns true. Returns true if it did.
  static func contains(where body: (Slice) -> Bool) -> Bool {
    var start = 0
    for index in 0...text.utf8CodeUnitCount where index == text.utf8CodeUnitCount || byte(index) <= 0x20 {
      if index > start, body(Slice(start: start, count: index - start)) { return true }
      start = index + 1
    }
    return false
  }

  /// One of the passwords, in place.
  struct Slice {
    fileprivate let start: Int
    let count: Int

    subscript(_ index: Int) -> UInt8 { CommonPasswords.byte(start + index) }
  }

  private static func byte(_ index: Int) -> UInt8 { unsafe text.utf8Start[index] }

  private static let text: StaticString = """
    0.0.0.000 01011910 01011970 01011975 01011977 01011979 01011980 01011981 01011982 01011983 01011984 01011985
    01011986 01011987 01011988 01011989 01011990 01011991 01011992 01011993 01011999 01012000 01012001 01012010 01012011
    01020304 01091989 02011980 02011985 02011986 02011987 02011988 02021982 02021983 02021984 02021985 02021986 02021987
    02021988 02021989 02031984 02031986 02031987 02041982 02041983 02041984 02041986 02041987 02041988 02051983 02051986
    02061985 02061986 02061989 02071982 02071984 02071986 02081984 02081985 02081986 02081987 02081988 02081989 02091986
    02091987 02101984 02101985 03082006 10203040 1029384756 11111111 11112222 111222333 11223344 1122334455 11235813
    1123581321 12011987 12131415 12312312 1232323q 123321123 12344321 123454321 1234554321 123456654321 12345678
    123456789 1234567890 1234567890a 1234567890q 1234567891 12345678910 123456789a 123456789q 123456789z 12345678a
    12345678q 12345679 1234567a 1234567q 123456aa 123456qw 123456qwe 123456qwerty 12345qwe 12345qwert 1234abcd 1234asdf
    1234qwer 123654789 123789456 123qq123 123qwe123 123qweasd 123qweasdzxc 123qwerty 12qw34er 12qwaszx 13243546
    135792468 1357924680 14725836 14789632 147896325 15426378 18436572 192837465 19411945 1a2b3c4d 1a2s3d4f 1q2w3e4r
    1q2w3e4r5 1q2w3e4r5t 1q2w3e4r5t6y 1qa2ws3ed 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 1x2zkg8w 21031988 25802580 31415926
    321654987 4815162342 73501505 741852963 78945612 789456123 7ugd5hip2j 8j4ye3uz 9293709b13 963852741 987456321
    a1234567 a12345678 a123456789 a1b2c3d4 a1s2d3f4 aa123456 aaliyah aardvark aaron abby abc12345 abcd1234 aberdeen
    abgrtyu abigail abnormal abraham absolut absolute access access14 accord account achilles action active adam adams
    adgjmptw adidas admin admiral adonis adrian adriana adrienne adult adults aezakmi africa again agent007 aggies
    aikido airborne airbus airforce airplane akira alabama alan alaska albatros albert alberto albina albion alejandr
    alejandro aleksandr aleksandra aleksey alenka alex alexande alexander alexandr alexandra alexey alexia alexis alfa
    alfred alfredo alibaba alice alicia alien aliens alina alisha alison allan allen alliance allison allmine allsop
    allstar alpha alphabet alpine alucard always alyssa amadeus amanda amateur amateurs amazing amazon amber amelia
    america america1 american amigo amsterda amsterdam anaconda anakin anarchy anastasia anders andersen anderson andre
    andrea andreas andrei andres andrew andrey andromed andromeda andy anfield angel angela angelica angelina angelo
    angels angie angus anhyeuem animal animals anime anita anna annabell anne annette annie annika answer anthony
    anthony1 antoine anton antoni antonio anubis anything apache apollo apollo13 apple apple123 applepie apples april
    aquarius aragorn arcadia archer archie argentina ariana arizona arjay arlene armagedon armani army arnold arrow
    arsenal arsenal1 artem artemis artemka arthur artist artur arturo asdasd asdf asdf1234 asdfasdf asdfg asdfgh asdfghj
    asdfghjk asdfghjkl asdfjkl asdfzxcv asdzxc ashlee ashleigh ashley ashton asia asian aspire aspirine assassin asterix
    astrid astro astros athena athens athlon atlanta atlantic atlantis atomic attack aubrey auburn audrey august augusta
    augustus aurora aussie austin australi australia autumn avalanch avalon avatar avenger awesome azamat azerty azsxdc
    azsxdcfv babe babies baby babyblue babyboy babydoll babyface babygirl babylon babylon5 babylove bacardi bacchus back
    backdoor backup bacon badboy baddog badger badgirl badman baggins baggio bagira bailey balance baldwin ball baller
    balloon balloons balls bambam bamboo banana bananas banane bandit bank banker banner banshee banzai barbados barbara
    barber barbie barcelon barcelona barefoot barker barkley barnes barney baron barrett barry barsik bart bartman
    barton baseball baseball1 basket basketba basketball batman battle baxter bayern bcfields beach beaches beagle
    beamer bean beaner beanie beans bear bearcat bears beast beastie beatle beatles beatrice beautifu beautiful beauty
    beavis because becker beckham becky beefcake beemer beer beetle believe belinda bell bella belle belly bender
    benfica bengals benjamin bennett benny benson bentley beowulf beretta berger berlin bermuda bernard bernie bert
    bertha bertie beth bethany better betty beverly bhbirf bianca bicycle bigballs bigbear bigbird bigblue bigboy
    bigdaddy bigdog bigfish bigfoot bigger biggie biggles bigguy bigmac bigman bigmike bigmoney bigone bigred bigtime
    bike bikini bilbo bill billie billy billybob billyboy bimmer bing bingo binladen bird birdie birdman birthday
    biscuit bishop biteme bizkit blabla black blackbir blackcat blackdog blackhaw blackie blackjac blackjack blackman
    blackout blacks blacky blade blades blahblah blake blaster blaze blazer blessed blessing blink182 blizzard blond
    blonde blondes blondie blood bloody blossom blue bluebird blueboy bluedog blueeyes bluefish bluemoon blues bluesky
    boat bobafett bobbie bobby bobcat bobdylan boeing bogart bogdan bogey bohica bollocks bollox bolton bomber bond bone
    bonehead boner bones bonita bonjour bonjovi bonkers bonnie bonsai boogie booker bookworm boom boomboom boomer bootie
    boots boricua boris borussia bosco boss bossman boston bottle bottom bounce bounty bowler bowling bowser boxing
    boxster boys brad bradford bradley brandi brando brandon brandon1 brandy brasil braves bravo brazil breast breasts
    breeze brenda brendan brent brett brewer brewster brian briana brianna bridge bridget bright brighton brigitte
    bristol britney brittany brittney broadway brodie broken bronco broncos brooke brooklyn brooks brother brothers
    brown brownie browning browns bruce brucelee bruins bruno brutus bryan bryant bubba bubbas bubble bubbles buck
    bucket buckeye buckeyes buckshot budapest buddah buddha buddie buddy buddyboy budlight budman budweise buffalo
    buffett buffy bugger builder bull bulldog bulldog1 bulldogs bullet bullfrog bulls bullseye bummer bunghole bunnies
    bunny burger burton bush bushido business busted buster butch butcher butler buzz buzzard byteme cabbage cactus
    cadillac caesar caitlin calgary calico caliente californ california caligula callaway callie calvin camaro cambiami
    camel camelot camels cameltoe camera cameron cameron1 camilla camille campbell camper canada canadian cancel cancer
    cancun candice candle candy candyman cang cannabis cannon canon cantona canyon capital capone caprice capslock
    captain caramel caravan carbon card cardinal cards carina carl carla carlito carlitos carlo carlos carlton carmel
    carmen carol carole carolin carolina caroline carolyn carpedie carpet carrera carrie carrot carson carter cartman
    cartoon casanova caserta casey cash casino casper cassidy cassie castle castro catalina catdog catfish catherin
    catherine cathy catman cats cattle cavalier caveman ccbill cdtnbr cdtnkfyf cecilia cedric celeron celeste celica
    celine celtic celtics ceng center central century cerberus cessna cfitymrf cgfhnfr chad chai chainsaw chair champ
    champion champs chan chance chandler chanel chang change changed changeme channel chantal chao chaos charger
    chargers charity charlene charles charles1 charley charli charlie charlie1 charlott charlotte charlton charly
    charmed chase chaser cheater check checkers cheech cheers cheese cheetah chelsea chelsea1 chemical cheng cherokee
    cherry cheryl chester chester1 chevelle chevrole chevrolet chevy chewie cheyenne chicago chicago1 chichi chicken
    chicken1 chickens chicks chico chief chiefs children chimera china chinook chip chipper chippy chivas chloe chocolat
    chocolate chong chopin chopper chou chris chrisbln chrissy christ christia christian christie christin christina
    christine christmas christop christopher christy chrome chronic chrono chrysler chuai chuang chubby chuck chuckie
    chuckles chucky chui chun chunky chuo church ciccio cicero cigars cinder cindy cinema cinnamon circle circus citizen
    city cjkysirj cjkywt claire clancy clapton clarence clarinet clark classic classics claude claudi claudia claudio
    claymore clayton clemson cleo clevelan clifford clinton clipper cloud clouds clover clown cobalt cobra cocacola
    coconut cody coffee cohiba coke coldbeer coleman colleen college collin collins colombia colonel colorado colors
    colton coltrane columbia columbus combat comet comics command commando common company compaq compute computer
    concorde concrete condom condor confused cong connect conner connie connor conrad consumer contact content control
    cookie cookies cool cooldude cooler coolguy coolio coolman coolness cooper cooter copper corey corleone cornell
    corolla corona corrado corsair corvette cosmic cosmo cosmos cosworth cotton cougar cougars counter country county
    courage courtney cowboy cowboys cowboys1 coyote crack cracker craig crash crawford crazy crazybab cream creamy
    creative creature credit cricket criminal crimson cristian cristina critter crjhgbjy crow cruise cruiser crunch
    crusader crusher crysis crystal crystal1 cthtuf cthulhu cthutq cubbies cubswin cuddles cupcake curious curtis custom
    cutter cxfcnmt cyber cyclone cyclops cygnus cynthia cypress daddy daemon daewoo dagger daisy dakota dale dalejr
    dallas dalton damage damian damien dammit dana dance dancer dang danger danie daniel daniela danielle daniil danila
    danni danny dannyboy dante danzig daphne darius dark darklord darkman darkness darkside darkstar darling darrell
    darren darryl darwin dave david davide davids davidson davis dawg dawn dawson daytona dbrnjh dbrnjhbz deacon dead
    deadhead deadman deadpool dean deanna death debbie deborah december deejay deep deepthroat deeznuts deeznutz
    defender defiant deftones delete delphi delta deluxe demon demons denali deng denis denise deniska dennis denver
    depeche derek derrick desert design designer desire desiree deskjet desmond destiny destroy detroit deutsch devil
    devildog devils dexter dfcbkbq dfkthbz dfkthf dfktynbyf dfvgbh dharma diablo dialog diamond diamond1 diamonds dian
    diana diane dianne diao diego diehard diesel dietcoke dieter digger diggler digital digital1 dilbert dilligaf dillon
    dima dinamo ding dino dinosaur direct director dirtbike dirty discover disney diver divine divorce dixie dkflbckfd
    dkflbvbh doberman doctor dodge dodger dodgeram dodgers dogfood dogg doggie doghouse dogman dogs doitnow dollar
    dollars dolores dolphin dolphin1 dolphins domain dominic domino donald donkey donna donnie donovan donuts doobie
    doodle doogie dookie doomsday door dorian dorothy dotcom double doug doughboy douglas down downtown dracula drago
    dragon dragon12 dragonba dragonball dragons dragoon drake drakon dream dreamer dreams drew driver drizzt droopy
    drowssap drpepper drummer drunk dthjybrf duan dublin ducati duchess duck dude dudley duke duncan dundee dupont
    durango duster dustin dusty dutch dutchess dwayne dwight dylan dynamite dynasty eagle eagles eastside eastwood easy
    eatme ebony eclipse eddie edgar eduard eduardo edward edwards eeyore eileen einstein ekaterina elaine eldorado
    eleanor electra electric electron element elena elephant eleven elijah elite elizabet elizabeth elizaveta elliot
    elliott elvira elvis elwood emerald emerson emily eminem emma emmanuel emmitt empire energy engage engine engineer
    england english enigma enjoy enter enterpri enterprise entropy eraser eric erica ericsson erik ernest escape esther
    estrella eternal eternity eugene eureka europa europe evan evelyn everest everett everton excalibu excalibur exigen
    exigent exodus explorer express extreme fabian fabie fabric face faith falcon falcons fallen fallout family famous
    fang fantasy farley farmer farscape farside fashion fast fastball faster fatboy fatcat father fatima fatman feather
    february federico feet felicia felipe felix female fender feng fergie ferguson fernand fernando ferrari ferrari1
    ferret ferris fester fghtkm fgtkmcby ficken fiesta figaro fight fighter filter filthy finance finger fingers finish
    fire fireball firebird firefly firefox fireman first fish fisher fishes fishing fishing1 fitness five fktrcfylh
    fktrcfylhf fktrctq flames flamingo flash flatron fletch fletcher flexible flight flipper floppy florence florian
    florida florida1 flounder flower flowers floyd fluffy flyboy flyers flying focus foobar foot footbal football
    football1 ford fordf150 forest forever forfun forget forgot formula formula1 forrest fortuna fortune forum forward
    foryou fossil foster fountain fowler foxtrot france frances francesc francis franco francois frank frankie franklin
    franky fraser freak freaks freaky freckles fred freddie freddy frederic free freedom freedom1 freeman freeuser
    freeway freeze french fresh friday friend friendly friends fright frisco frisky fritz frodo frog frogger froggy
    front242 frontier frosty frozen fubar fugazi fulham function funny funtime fusion futbol future fuzzy fyfcnfcbz
    fylhtq fytxrf fyutkbyf gabrie gabriel gabriel1 gabriela gabriell gadget galaxy galina galore gambit game gamecube
    gameover games gandalf gandalf1 gang gangsta gangster garage garbage garcia garden garfield gargoyle garrett gary
    gaston gateway gateway1 gator gatorade gators gawker gbpltw gegcbr geheim gemini general generic genesis geneva geng
    genius geoffrey georg george georgia gerald gerard german germany geronimo gertrude gesperrt getmoney getsome gfhjkm
    gfhjkm123 gfhjkmgfhjkm ghbdtn ghbdtnbr ghblehjr ghetto ghjcnj ghjcnjnfr ghost ghostrider giant giants gibson gilbert
    gillian ginger giorgi giorgio giovanni girl girls giuseppe gizmo gizmodo gjkbyf gladiator global gloria glory gmoney
    gn56gn56 goalie goat goaway goblin goblue gobucks goddess godfathe godfather godsmack godzilla gofish goforit goku
    gold goldberg golden goldfish goldie goldstar goldwing golf golfball golfer golfing goliath gollum gonavy gong gonzo
    goober good goodboy goodbye goodluck goodman goodtime goofy google gooner goose gopher gordon gordon24 gorilla
    gotcha gothic govols grace gracie graham grandma granny grant graphics grateful grease great greatone greece green
    greenbay greenday greene greens greg gregor gregory gremlin grendel gretchen gretzky griffey griffin gringo grizzly
    gromit groove groovy groucho grover grumpy guai guang guardian guest guiness guinness guitar gundam gunnar gunner
    gunners gunther gustav hack hacked hacker hailey hairy halflife halifax hallo hambone hamburg hamilton hamish hamlet
    hammer hammers hampton hamster handsome handyman hang hank hanna hannah hannibal hans hansen hansolo happy happy123
    happyday hard harder hardon hardrock hardware harley harmony harold harper harris harrison harry harvard harvey
    hassan hastings havefun hawaii hawaii50 hawaiian hawk hawkeye hawkeyes hayabusa hayden hayley head health heart
    hearts heater heather heather1 heaven heckfy hector hedgehog heidi heineken helen helena helene helmet help helpme
    hendrix henry hentai herbert herbie hercules here heritage herman hermes hershey hesoyam heynow hidden higgins high
    highland hill hillary hilton hiphop hippie history hithere hitman hjccbz hjvfirf hobbes hobbit hockey hokies holden
    hole holiday holland hollow holly hollywoo hollywood holmes home homeboy homer homerj homers homerun honda hondas
    honey hong hongkong hooligan hooper hoosier hoosiers hootie hoover hope hopeful hopeless hopper horizon horndog
    hornet horney horse horses hotbox hotboy hotdog hotred hotrod hotshot hotstuff hottie house houses houston hover
    howard howdy huai huang hubert hudson hughes hummer hungry hunt hunter hunting hurley hurrican husker huskers
    huskies hustler hyperion iamgod ibanez iceberg icecream iceman idiot idontkno idontknow iforgot igor iguana ihateyou
    illini illinois illusion iloveu iloveyo iloveyou imagine immortal impala imperial incubus india indian indiana
    indians indigo infantry inferno infiniti infinity ingrid insane insert inside insomnia integra intel internet
    intrepid intruder inuyasha iomega ipswich ireland irina irish ironman isabel isabella isabelle isaiah iscool island
    islander israel istanbul italia italian ivan ivanov ivanova iverson iverson3 iwantu jabroni jack jackal jackie
    jackoff jackpot jackson jackson1 jackson5 jacob jacques jade jagger jaguar jake jamaica james james007 jamesbon
    jamesbond jameson jamie jammer jammin jane janet janice janine january japan japanese jarhead jasmin jasmine
    jasmine1 jason jasper java javier jaybird jayden jayhawk jayhawks jayson jazz jazzman jean jeanette jeanne jedi jeep
    jeff jeffery jeffrey jelly jellybea jenkins jenn jenna jennie jennifer jenny jensen jeremiah jeremy jericho jerkoff
    jerome jerry jersey jess jesse jessic jessica jessica1 jessie jester jesus jethro jetski jewels jezebel jiang jiao
    jiggaman jill jillian jimbo jimbob jimmie jimmy jing jiong jktymrf joanna joanne jockey joey johann johanna johannes
    john johnboy johnny johnson joker jokers jonathan jones jorda jordan jordan23 jose joseph josh joshua journey jrcfyf
    juan judith juggalo juice julia julian julie juliet juliette julius jump jumper junebug jungle junior jupiter
    just4fun justdoit justice justin justine justme juventus kahuna kaiser kaitlyn kakashka kaktus kamikaze kang
    kangaroo kansas karate karen karin karina karma karolina kashmir kasper katana katerina katherin katherine kathleen
    kathryn kathy katie katrin katrina kawasaki kayla kaylee kazantip kcj9wx5n keegan keeper keith keller kelley kelly
    kelsey kendall kendra kennedy kenneth kenny kenshin kentucky kenwood kenworth kermit kevin keyboard keystone keywest
    kfhbcf kicker kids kill killbill killme kilroy kimber kimberly kinder king kingdom kingfish kingkong kingpin
    kingston kipper kirill kirsten kirsty kiss kisses kissing kissme kitkat kitten kitty kittycat kittykat klaster
    kleopatra klingon knickers knicks knight knights knockers knopka kodiak kolobok kong kool korn koshka kosmos kostya
    kotaku kotenok kramer kris krishna krista kristen kristi kristin kristina kristine kristy krystal ktyjxrf kuai kume
    kungfu kyle labrador labtec lacrosse ladies lady ladybug laguna lakers lakota lambert lamont lance lancelot lancer
    lang lansing laptop larisa larry laser lassie lasvegas latin latinas latino laura laurel lauren laurence laurent
    laurie lawrence lawyer lazarus leader leanne leather leavemealone ledzep legacy legend legion legolas lemon lemons
    lena leng lennon leon leonard leonardo leonid leopard lesley leslie lespaul lestat lester letmein letmein1 letmein2
    letsgo letter lewis lexmark lexus liang liao liberty library life lifehack lifetime light lighter lightnin lightning
    lights lillian lilly lincoln linda lindsay lindsey lineage2 ling lion lionel lionking lions lipstick liquid lisa
    little liverpoo liverpool lizard lizzie loaded lobster loco logan logitech lokomotiv lola lolipop lolita lollipop
    lollol london lonely lonestar lonewolf long longhorn look looker looking looney looser lord lorenzo lori lorraine
    loser losers lost lotus louis louise love lovebug loveit loveless lovely loveme lover loverboy lovers loveyou loving
    lowrider ltybcrf luan lucas lucifer lucille lucky luckydog lucy ludmila ludwig luis luke luther lvbnhbq lynn
    macdaddy machine mack macross madden maddie maddog madeline madina madison madison1 madman madmax madness madonna
    madrid maestro magazine maggie maggot magic magical magician magick magicman magnolia magnum magnus magpie maiden
    mailcreated5240 mailman majestic major makaveli maksim maksimka malaka malcolm malibu malina mallard malone mamapapa
    manager manchest manchester mancity mandarin mandingo mandy mango maniac manning manowar manson mantis manuel
    manuela manutd maradona marathon marc marcel marcello march marcia marco marcos marcus margaret margarita mari maria
    mariah marian marianne marie marika marilyn marin marina marine mariners marines marino marino13 mario marion
    mariposa marisa marissa marius mark marker market markus marlboro marlene marley marlin married marsha marshall
    martha martin martina martine martinez martini marvel marvin mary maryann maryjane maryland masamune mason massage
    massimo massive maste master master12 masters matador mathew matilda matrix matt matteo matthew matthew1 matthews
    mattie mature maureen maurice maverick maxell maxim maxima maxime maximum maximus maxine maxwell maxwell1 maxx
    mayday mayhem maynard mazafaka mazda mazda626 mclaren meagan meat meatball meathead meatloaf mechanic media medical
    medicine medusa megadeth megaman megan megatron meghan meister melanie melinda melissa melissa1 mellon mellow melody
    melvin member memorex memory memphis menace meng meowmeow mephisto mercedes mercury meredith meridian merlin merlot
    mermaid mersedes metal metallic metallica method mets mexican mexico miami mian miao michae michael michael1
    michaela micheal michel michele michigan mickey microlab micron microphone microsof microsoft midget midnight midway
    mighty miguel mike mikey milana milano milena miles military milkman miller millie million millions millwall milo
    milton mine minecraft ming minime minnie miracle mirage miranda miriam mirror misery misfit misfits misha mishka
    mission missouri missy mister mistress misty mitch mittens mnbvcxz mobile models modena mohamed mohammed mojo mollie
    molly mollydog moloko molson mommy momoney monaco monalisa monarch monday mondeo money moneyman moneys mongoose
    monica monika monique monitor monke monkey monkey12 monkeys monopoly monroe monster monster1 montana monte
    montgom240 montreal monty moocow mookie moomoo moon moonlight moore moose mordor more morgan moritz morning morpheus
    morris morrison mortgage mortimer moscow mother motherlode motley motorola mountain mouse movie movies mozart mulder
    mullet multiplelo munchkin muppet murphy murray musashi muscle mushroom music musica musicman mustafa mustang
    mustang1 mustangs mustard mybaby mylife mylove myname myself mystery mystic nadine nancy nanook napoleon napoli
    napster naruto nascar nasty nastya natali natalia natalie natasha nathalie nathan national natural nature naughty
    ncc1701a ncc1701d ncc1701e nebraska nellie nelson nemesis neng neptune netscape network nevada newbie newcastl
    newlife newman newport newton newyork newyork1 nfnmzyf nguyen niang niao nice nicholas nick nickel nicol nicola
    nicolas nicole night nightmare nike nikita nikitos nikki nikola nikolay nimbus nimrod nina niners ning ninja ninjas
    nintendo nipper nirvana nissan nitram nobody noelle nofear nokia nokia6300 nolimit nomore none nong noodle noodles
    nookie norman northern norton norway nothing nova novell november ntktajy nuan nudist nugget nuggets number nuts
    nuttertools nwo4life nyjets nylons nymets oakland oakley oasis obelix obiwan oblivion ocean oceans october odessa
    office officer ohyeah oilers oklahoma oksana oldman oleg olga oliver olivia olivier omega onelove onetime online
    onlyme open openup operator optimus oracle orange oranges orchid oregon orient original orioles orion orlando oscar
    osiris otto outkast outlaw over overkill overlord oxford ozzy p0015123 pa55w0rd pa55word pablo pacers pacific
    packard packer packers packers1 pacman padres paint paintbal paintball painter pakistan palace paladin palmer paloma
    pamela panama panasoni panasonic pancho panda pandora pang pantera panther panther1 panthers pants panzer paper
    paradise paradox paranoid paris park parker parola parrot party pascal passat passion password passwords passwort
    pasword patches patience
    patric patrice patricia patrick patrick1 patriot patriots patton patty paul paula pauline pavilion pavlov payton
    pdtplf peace peach peaches peanut peanuts pearl pearljam pebbles pedro peekaboo peewee pegasus pencil penelope peng
    penguin penguins penny penthous pentium people pepper pepsi perfect persik person personal pervert pete peter
    peterpan peters peterson petra petrov peugeot peyton phantom pharmacy pheonix phil philip philippe philips phillies
    phillip phillips philly phish phoebe phoeni phoenix phoenix1 phone photo photos phpbb pian piano pianoman piao
    picard picasso piccolo pickle pickles pickup pics picture pierce pierre piglet pikachu pillow pilot pineappl ping
    pingpong pinhead pink pinkfloy pinkfloyd pinky pioneer piper pippen pippin piramida pirate pirates pisces pistol
    pitbull pizza pizzas planet plasma plastic platinum play player players playing playstation playtime please pleasure
    plumber pluto plymouth pobeda poetry poison poiuyt poiuytrewq pokemon pokemon1 poker poland polaris police polina
    polly polniypizdec0211 polo polska pompey poncho pontiac pony poochie poodle pooh poohbear pookie pool poontang
    pooter popcorn popeye poppy porkchop porsche porsche1 porsche9 porter portland portugal poseidon positive possum
    postal potato pothead potter powder powell power powers preacher precious predator prelude premier premium presario
    presto preston pretty primus prince princes princess pringles printer prissy private privet prodigy profit project
    promise property prophet proxy psycho public puddin pudding puffy pulsar pumpkin punisher punkin punkrock puppies
    puppy pupsik purdue purple pussey pussie pussies putter pyramid python q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 q2w3e4r5
    qawsed qawsedrf qazqaz qazwsx qazwsx12 qazwsx123 qazwsxed qazwsxedc qazwsxedc123 qazwsxedcrfv qazxsw qazxswedc
    qazzaq qiang qiao qing qiong quality quan quantum quartz quattro queen queens quest quincy qwaszx qweasd qweasd123
    qweasdzxc qweqwe qwer1234 qwerasdf qwert qwert123 qwerty qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456
    qwertyu qwertyui qwertyuio qwertyuiop qwertz r2d2c3po rabbit rabota race racecar racer racerx rachael rachel racing
    radio radiohea rafael ragnarok raider raiders raiders1 railroad rain rainbow rainbow6 rainman raistlin ralph rambler
    rambo rammstein ramona ramones ramrod ramses ramsey rancid randall random randy ranger rangers rangers1 raptor
    raquel rascal rasputin rasta rastaman raven ravens raymond razz rbhbkk rctybz reader reading ready reagan reality
    really realmadrid reaper rebecca rebecca1 rebel rebels reckless records recovery redalert redbird redbull reddog
    redfish redhead redhot redline redman redrum reds redskins redsox redwing redwings redwood reebok reefer reggie
    regina register remember remote renata renault renee renegade reng rereirf rescue research resident respect retired
    revenge review reynolds rfhbyf rfnthbyf rfrfirf rfrnec rhbcnbyf rhfcjnrf rhiannon rhino rhjrjlbk rhonda rhtdtlrj
    ricardo rich richard richard1 richards richie richmond rick ricky rider rightnow riley ripken ripley ripper ripple
    river rivers rjirfrgbde rjntyjr rjycnfynby roadkill roadking roadrunn robbie robert roberta roberto roberts robin
    robinson robotech rock rocker rocket rockets rockford rockhard rockon rocks rockstar rocky rodman rodney roger
    rogers roland roller rolling rolltide roman romance romano romashka romeo romero rommel ronald ronaldo rong ronnie
    rookie rooney rooster rootbeer roscoe rose rosebud rosemary rosie rotten rover rovers roxanne royal royals rtyuehe
    ruan rubber ruby rufus rugby rules rulez rulezzz runescape runner running rupert rush rush2112 ruslan russell russia
    russian rustam rusty ryan sabbath sabina sabine sabres sabrina sacred sadie safari safety sahara sailboat sailing
    sailor saint saints sakura salamander salasana saleen sally salmon salomon salsero salvador samantha samara samiam
    sammie sammy sampson samson samsun samsung samsung1 samtron samuel samurai sanchez sancho sander sanders sandiego
    sandman sandra sandro sandwich sandy sanfran sang santana santiago santos sapper sapphire sara sarah saratoga sascha
    sasha sasuke saturn saun sauron sausage savage savannah sayang scania scanner scarface scarlet scarlett school
    science scooby scoobydo scooter scooter1 scorpio scorpio1 scorpion scotch scotland scott scottie scotty scout
    scrabble scratch scream screen scruffy scuba scully seadoo seahawks seamus sean searay search seattle sebastia
    sebastian second secret secrets secure security seeker seeking seinfeld select selena seminole semperfi senator seng
    senior sentinel septembe september serega serena serenity sergeant sergei sergey sergi sergio sersolution server
    service sesame seven shado shadow shadows shaggy shai shalom shaman shamrock shane shaney14 shang shanghai shania
    shannon shannon1 shao shaolin shark sharks sharky sharon shasta shaved shawn shazam shearer sheba sheena shei sheila
    shelby shemale sheng shepherd sheriff sherlock sherman sherri sherry sherwood shiloh shiner shirley shock shogun
    shopping short shorty shotgun shou showme showtime shuai shuang shun shuo shutup sidney siemens sierra silence
    silent silly silver silverad silvia simba simon simona simone simple simpson simpsons sims sinatra sinbad sinclair
    singer single sinister sinner sirius sister site sithlord sixers skate skater skeeter skidoo skiing skinny skipper
    skippy skittles skorpion skydive skylar skyler skyline skywalke skywalker slacker slapper slappy slapshot slavik
    slayer sleeper sleepy slider slim slinky slipknot slippery small smashing smeghead smegma smelly smile smiles smiley
    smith smiths smitty smoke smoker smokes smokey smokie smokin smoking smooth smudge snake snakes snapon snapper
    snapple sneakers snickers sniper snooker snoop snoopdog snoopy snow snowball snowboar snowman snuffy snuggles sobaka
    soccer socrates softball software sojdlg123aljg soldier soleil solnce solo solomon solution some somethin something
    sommer song sonic sonics sonny sonoma sony sooner sooners sophi sophia sophie soso123aljg soulmate sound southern
    southpar southpark space spaceman spanish sparkle sparks sparky sparrow sparta spartak spartan spartans spawn
    speaker spears special specialk spectre spectrum speed speedo speedy spencer spencer1 sphinx spider spiderma
    spiderman spidey spike spinner spirit spitfire splash splinter sponge spongebob spooky sport sporting sports spread
    spring springer sprint sprite spunky spurs sputnik spyder squall squash squirrel srinivas stacey stacy stalin
    stalker stallion standard stanford stanley staples star starbuck starcraf starcraft stardust starfire starfish
    stargate starman stars starship start starter startrek starwars static station stealth steam steel steele steeler
    steelers stefan stefano stella steph stephani stephanie stephen stereo sterlin sterling steve steven stevens stevie
    stewart stick sticks sticky stimpy sting stinger stingray stinky stocking stocks stolen stone stonecol stonecold
    stoned stoner stones stoney stories storm stormy strange stranger strawberry street strength stretch strider strike
    striker strip strong stuart stud student studio studly stuff stumpy stunner stupid suan subaru sublime submit subway
    subzero success sugar sullivan sultan summer summit sundance sunday sunflowe sunflower sunny sunnyday sunrise sunset
    sunshin sunshine super super123 superfly superman superman1 supersta superstar support supreme surf surfer surfing
    susan susana susanne suzanne suzuki sveta svetik svetlana svoboda swallow sweden sweet sweetie sweetnes sweetpea
    sweets sweety swimmer swimming sword swordfis swordfish swords sydney sylvia syncmaster syracuse system syzygy
    tabitha tacobell tacoma talisman talon tamara tammy tang tango tank tanker tanner tanya tara tardis target tarheel
    tarheels tarzan tasha tatiana tattoo tatyana taurus taxman taylor tazman tazmania tdutybq tdutybz teacher team
    technics techno teddy teddybea teddybear teen teens tekken telefon telephon temp tempest templar temple teng tennis
    tequila teresa terminal terminator terrapin terror terry test test1234 tester testing texas thailand thanatos thanks
    thankyou theater theboss thecat thedog thedoors thedude theend thegame thegreat thekid theking thelma theman
    theodore theone theresa therock thesims thing thirteen thoma thomas thompson thor three throat thuglife thumbs
    thunder thunder1 thunderb thursday tian tiberius tiburon ticket tickle tiffany tiffany1 tiger tiger123 tigers tigger
    tight tights timber time timmy timothy tina ting tinker tinkerbell tinman tintin tobias toby today todd together
    toledo tolkien tomato tomcat tommy tommyboy tomorrow tong tongue tony tool toolman toon tootie tootsie topcat topdog
    topgun topher topper tornado toronto torres toshiba tottenha tottenham toyota tracey tracker tractor tracy trader
    traffic train trainer trains trance transam translator trapper travel traveler travis treasure trebor tree trevor
    trfnthbyf trial triangle tricia tricky trident trigger trinidad trinity triple tripod trisha tristan triton triumph
    trixie trojan trojans trombone trooper trouble trout truck trucker trucks truelove truman trumpet trunks trustno1
    tsunami tuan tucker tuesday tulips tunafish tundra turbo turkey turkey50 turner turtle tweety twenty twilight
    twinkle twins twisted twister tyler typhoon tyrone tyson ufkbyf ultima ultimate umbrella underdog undertaker unicorn
    unique united universal universe unknown unreal usarmy user usmc usnavy utopia vacation vader vadim valencia
    valentin valentina valera valeri valeria valerie valhalla valkyrie valley vampire vampires vanessa vanhalen vanilla
    vasilisa vector vectra vedder vegas vegeta velvet venera venice ventura venus verbatim veritas verizon vermont
    vernon verona veronica veronika vertigo vette vfczyz vfhbyf vfhecz vfhufhbnf vfksirf vfrcbv vfrcbvrf vfvekz vfvfgfgf
    vfvjxrf viagra victor victoria victory video vietnam viewsonic viking vikings viktor viktoria village vincent vinnie
    violet violetta viper vipers virtual vision vitalik vivian vkontakte vladik vladimir vladislav volley volume volvo
    voodoo vortex voyager voyeur vsjasnel12 vulcan wagner walker wallace walleye wally walmart walnut walrus walter wang
    wapbbs warcraft wareagle warhammer warlock warlord warner warning warren warrior warriors warthog washington wasser
    wassup watcher water waterloo waters watson wayne weasel weather weaver webmaste webmaster webster wedding weezer
    welcome welcome1 welder wendy weng werewolf werner wesley west western westham westside westwood wg8e3wjf what
    whatever whatsup wheels whiskers whiskey whisky whisper white whitesox whitey whitney whocares whynot wibble wicked
    wilbur wild wildcard wildcat wildcats wildfire wildman will willia william william1 williams willie willis willow
    willy wilson window windows windsor wings winner winnie winston winston1 winter wisdom wishbone wizard wolf wolfgang
    wolfie wolfman wolfpack wolverin wolverine wolves woman wombat women wonder wood woody woofwoof woohoo wookie work
    working world wraith wrangler wrestle wrestlin wrestling wright wrinkle1 writer wutang xanadu xander xavier xerxes
    xfiles xiang xiao xing xiong xtreme xuan yamaha yang yankee yankees yankees1 ybrbnf ybrjkfq yeahbaby yellow
    yfcntymrf yfnfif yfnfkmz ying yjdsqgfhjkm yoda yolanda yomama yosemite young yourmom ytrewq yummy yvonne yzerman
    z1x2c3v4 zachary zang zaphod zappa zaq12wsx zaq1xsw2 zaqwsx zaqxsw zaraza zenith zeppelin zero zerocool zeus zhai
    zhang zhao zhei zheng zhjckfd zhong zhou zhuai zhuang zhui zhun zhuo zidane ziggy zigzag zipper zippy zombie zong
    zorro zvezda zxasqw12 zxcasd zxcasdqwe zxcv1234 zxcvbn zxcvbnm zxcvbnm1
    """
}
